package io.escapement.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.cli.Main.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What benchmarks may be told, without running one. */
class BenchCommandTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void aNumberTellsWhatIsUsualAndWhatQuickMakesOfIt() {
    assertThat(run("bench", "dispatch", "--help")).isZero();
    assertThat(said(out))
        .containsSubsequence("--tasks=N", "Default: 100000, or 2000 with --quick")
        .containsSubsequence("--tenants=N", "Default: 10")
        .containsSubsequence("--payload=BYTES", "Default: 200");
  }

  @Test
  void pollingIsComparedAtThreeIntervalsUnlessOthersAreNamed() {
    assertThat(run("bench", "discovery", "--help")).isZero();
    assertThat(said(out)).containsSubsequence("--poll-every=TIME", "Default: 1s,100ms,10ms");
  }

  @Test
  void tooFewAreRefusedBeforeAServerIsStarted() {
    assertThat(run("bench", "outbox", "--events", "1")).isEqualTo(2);
    assertThat(said(err)).isEqualTo("escapement: --events is 1; it must be at least 2");
    assertThat(said(out)).isEmpty();
  }

  @Test
  void everyBenchmarkSaysWhatItMeasures() {
    CommandLine bench = Objects.requireNonNull(tree().getSubcommands().get("bench"));
    assertThat(bench.getSubcommands().keySet())
        .containsExactly(
            "ingest",
            "pipeline",
            "relay",
            "dispatch",
            "lateness",
            "fairness",
            "idle",
            "discovery",
            "outbox");
    assertThat(bench.getSubcommands().values())
        .allSatisfy(
            one -> {
              assertThat(one.getCommandSpec().usageMessage().description()).isNotEmpty();
              assertThat(one.getCommandSpec().findOption("--repeats")).isNotNull();
            });
  }

  private int run(String... arguments) {
    return tree().execute(arguments);
  }

  private CommandLine tree() {
    return CommandTree.build(
        new Terminal(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8)),
        Map.of());
  }

  /** Without its line breaks. */
  private static String said(ByteArrayOutputStream stream) {
    return stream.toString(StandardCharsets.UTF_8).strip().replaceAll("\\s+", " ");
  }
}
