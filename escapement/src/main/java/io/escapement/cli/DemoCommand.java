package io.escapement.cli;

import io.escapement.assembly.CommandFailure;
import io.escapement.assembly.LocalEscapement;
import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.config.Key.Group;
import io.escapement.demo.DemoResult;
import io.escapement.demo.DemoRun;
import io.escapement.embedded.EmbeddedStack;
import io.escapement.ledger.Decision;
import io.escapement.ledger.TaskState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows all of it in half a minute, and checks what it shows. */
@Command(
    name = "demo",
    description = {
      "Starts a throw-away PostgreSQL and Kafka broker on free loopback ports, runs all parts, sends"
          + " about 2,000 events of four kinds for four tenants, one of them to a provider outside"
          + " that loses some of its answers, shows what becomes of them, and"
          + " checks that every promise was kept.",
      "Exit code 0 only if every accepted task was done with exactly one effect, every record got"
          + " exactly one receipt, and the audit found nothing. Nothing is left behind."
    })
final class DemoCommand extends ConfiguredCommand {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Option(
      names = "--file",
      paramLabel = "FILE.jsonl",
      description = "Other events than those of examples/demo.jsonl.")
  private @Nullable Path file;

  DemoCommand() {
    super(Group.DISPATCHER);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    StopSignal stop = StopSignal.install();
    Path events = file == null ? shippedEvents() : file;
    EmbeddedStack.Config servers =
        new EmbeddedStack.Config(
            Files.createTempDirectory("escapement-demo"), UpCommand.DATABASE, 0, 0, true);
    DemoResult result;
    try (LocalEscapement local = LocalEscapement.start(heedless(), servers, this::say)) {
      say("sending the events of " + events + " over some seconds", "");
      ProgressLine line = new ProgressLine(out());
      result =
          new DemoRun(local, events, LIMIT, stop.requested()::isDone)
              .run(progress -> line.show(progress.line()), line.every());
      line.end();
    }
    return report(result, Duration.ofNanos(System.nanoTime() - startNanos));
  }

  /** The provider loses answers on purpose, which must not look like an outage. */
  private Config heedless() {
    return config().with(Key.DISPATCHER_OUTAGE_CALLS, "0");
  }

  private Path shippedEvents() {
    return home()
        .map(home -> home.resolve("examples").resolve("demo.jsonl"))
        .orElseThrow(
            () ->
                new CommandFailure(
                    "ESCAPEMENT_HOME is not set, so the shipped events can't be found; start"
                        + " bin/escapement, or name a file with --file"));
  }

  private int report(DemoResult result, Duration took) {
    say("");
    say(decisions(result).lines().toArray(String[]::new));
    List<String> broken = result.broken();
    say(
        "",
        "  receipts   " + result.receipts().receipts() + " for " + result.sent() + " records",
        "  done       "
            + result.counts().in(TaskState.DONE)
            + " of "
            + result.accepted()
            + " accepted",
        "  effects    "
            + result.counts().effects()
            + ", and "
            + result.bookingRows()
            + " rows that a handler wrote to its own table",
        "  provider   "
            + result.provider().delivered()
            + " messages in "
            + result.provider().calls()
            + " calls: it lost "
            + (result.provider().calls() - result.provider().delivered())
            + " answers",
        "  lateness   " + StatusCommand.lateness(result.lateness()),
        "  audit      "
            + (result.violations().isEmpty()
                ? "nothing found"
                : "found " + result.violations().size()));
    broken.forEach(promise -> say("  BROKEN  " + promise));
    say(
        "",
        broken.isEmpty()
            ? "Every accepted task was done with exactly one effect, here or at the provider, and every record has exactly"
                + " one receipt."
            : "Promises were broken: this is a bug. Please report it with the lines above.",
        "It took " + took.toSeconds() + " s.");
    if (broken.isEmpty()) {
      suggestMore();
    }
    return broken.isEmpty() ? DONE : FAILED;
  }

  /** One row a decision, one column a kind. */
  private static Table decisions(DemoResult result) {
    List<String> kinds = List.copyOf(result.decisions().keySet());
    List<String> headings = new ArrayList<>(List.of("decision", "records"));
    kinds.forEach(kind -> headings.add(kind.isEmpty() ? "(unreadable)" : kind));
    Table table = new Table(headings.toArray(String[]::new));
    for (Decision decision : Decision.values()) {
      List<Integer> counts =
          kinds.stream()
              .map(kind -> result.decisions().getOrDefault(kind, Map.of()))
              .map(ofKind -> ofKind.getOrDefault(decision, 0))
              .toList();
      int sum = counts.stream().mapToInt(n -> n).sum();
      if (sum > 0) {
        List<Object> cells = new ArrayList<>(List.of(decision.word(), sum));
        counts.forEach(count -> cells.add(count == 0 ? "" : count));
        table.row(cells.toArray());
      }
    }
    return table;
  }

  private void suggestMore() {
    String escapement = launcher();
    say(
        "",
        "Try next:",
        "  1. " + escapement + " up",
        "     keeps the same stack running, for any Kafka client and psql",
        "  2. " + escapement + " submit " + example(),
        "     in another terminal, and once more: every record is then a replay or a conflict",
        "  3. " + escapement + " status",
        "     while it works; then kill -9 the up, start it again, and see that nothing is lost");
  }
}
