package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.assembly.CommandFailure;
import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.config.Key.Group;
import io.escapement.ledger.Decision;
import io.escapement.submit.Receipt.Coordinates;
import io.escapement.submit.Receipts;
import io.escapement.submit.RequestLines;
import io.escapement.submit.Sender;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sends a file of events and tells what was decided. */
@Command(
    name = "submit",
    description = {
      "Sends a file of structured CloudEvents, one JSON object a line, waits for their receipts and"
          + " prints how many were decided how.",
      "Exit code 0 only if every one was accepted, now or before."
    })
final class SubmitCommand extends ConfiguredCommand {

  private static final int REASONS_SHOWN = 8;

  @Parameters(paramLabel = "FILE.jsonl", description = "The events; empty lines are skipped.")
  private @Nullable Path file;

  @Option(
      names = "--tenant",
      paramLabel = "TENANT",
      description = "Send to this tenant's own topic, so that the events need not name it.")
  private @Nullable String tenant;

  @Option(
      names = "--raw",
      description = "Send every line as it is, also those that are not JSON objects.")
  private boolean raw;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "How long to wait for receipts. Default: ${DEFAULT-VALUE}")
  private int timeoutSeconds;

  SubmitCommand() {
    super(Group.KAFKA, Group.TOPICS);
  }

  @Override
  public Integer call() throws InterruptedException {
    Config config = config();
    Assembly assembly = new Assembly(config);
    RequestLines lines = new RequestLines(file == null ? Path.of("") : file);
    if (!raw) {
      lines.check();
    }
    String topic =
        Optional.ofNullable(tenant)
            .map(assembly.topics()::tenantRequests)
            .orElseGet(assembly.topics()::requests);
    assembly.requireTopics(List.of(topic, assembly.topics().receipts()));
    Map<String, String> kafka = config.kafkaClient();
    try (Receipts receipts = Receipts.follow(kafka, assembly.topics(), topic);
        Sender sender = new Sender(kafka, topic, config.time(Key.KAFKA_TIMEOUT))) {
      lines.forEach(sender::send);
      List<Coordinates> sent = sender.finish();
      say("sent " + sent.size() + " records to " + topic);
      List<Coordinates> missing = receipts.await(sent, Duration.ofSeconds(timeoutSeconds));
      return report(receipts, sent.size(), missing.size());
    }
  }

  private int report(Receipts receipts, int sent, int missing) {
    Map<Decision, Integer> decisions = receipts.decisions();
    Table table = new Table("decision", "records");
    decisions.forEach((decision, count) -> table.row(decision.word(), count));
    say(table.lines().toArray(String[]::new));
    receipts.commonReasons(REASONS_SHOWN).forEach(reason -> say("  " + reason));
    if (missing > 0) {
      throw new CommandFailure(
          "no receipt for "
              + missing
              + " of "
              + sent
              + " records within "
              + timeoutSeconds
              + " s; they are in Kafka and will be decided: see that ingest and relay run, or wait"
              + " longer with --timeout");
    }
    int accepted =
        decisions.getOrDefault(Decision.ACCEPTED, 0) + decisions.getOrDefault(Decision.REPLAY, 0);
    return accepted == sent ? DONE : FAILED;
  }
}
