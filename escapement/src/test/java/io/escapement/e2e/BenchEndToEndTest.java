package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.escapement.e2e.Distribution.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Benchmarks run and tell what they should; how fast anything is, no test asks. */
class BenchEndToEndTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path scratch;
  private Distribution escapement;

  @BeforeEach
  void assembled() {
    escapement = Distribution.of(scratch);
  }

  @Test
  void ingestIsMeasuredBesideABareLoopAndBesideAHistory() throws Exception {
    assertThat(figures("ingest", "--history", "2000"))
        .containsExactlyInAnyOrder(
            "bare tasks_per_s",
            "bare ratio_to_bare",
            "one process tasks_per_s",
            "one process ratio_to_bare",
            "two processes tasks_per_s",
            "two processes ratio_to_bare",
            "bare, history tasks_per_s",
            "bare, history ratio_to_bare",
            "bare, history history_ratio",
            "one process, history tasks_per_s",
            "one process, history ratio_to_bare",
            "one process, history history_ratio");
  }

  @Test
  void thePipelineIsMeasuredAsAWholeAndTaskByTask() throws Exception {
    assertThat(figures("pipeline"))
        .containsExactlyInAnyOrder(
            "immediate tasks tasks_per_s", "200 a second p50_ms", "200 a second p99_ms");
  }

  @Test
  void theRelayIsMeasuredAlone() throws Exception {
    assertThat(figures("relay", "--set", "relay.poll-interval=5ms"))
        .containsExactlyInAnyOrder(
            "200 transactions a second p50_ms",
            "200 transactions a second p99_ms",
            "idle idle_core_percent",
            "kill -9 of the leader takeover_ms",
            "full load events_per_s");
  }

  @Test
  void theDispatcherIsMeasuredBesideABareLoop() throws Exception {
    assertThat(positiveFigures("dispatch"))
        .containsExactlyInAnyOrder(
            "floor tasks_per_s", "wheel tasks_per_s", "wheel ratio_to_floor");
  }

  @Test
  void lateClaimsAreMeasuredAtTwoRates() throws Exception {
    assertThat(positiveFigures("lateness"))
        .containsExactlyInAnyOrder(
            "500/s p50_ms",
            "500/s p99_ms",
            "500/s max_ms",
            "2000/s p50_ms",
            "2000/s p99_ms",
            "2000/s max_ms");
  }

  @Test
  void theWaysOfFindingDueWorkAreMeasuredSideBySide() throws Exception {
    List<String> metrics =
        List.of("p50_ms", "p99_ms", "max_ms", "statements_per_s", "buffers_per_s", "core_percent");
    assertThat(positiveFigures("discovery"))
        .containsExactlyInAnyOrderElementsOf(
            Stream.of("wheel", "poll 1s", "poll 100ms", "poll 10ms")
                .flatMap(way -> metrics.stream().map(metric -> way + " " + metric))
                .toList());
  }

  @Test
  void theOutboxIsMeasured() throws Exception {
    assertThat(positiveFigures("outbox"))
        .containsExactlyInAnyOrderElementsOf(
            Stream.of("steady", "vacuum held back", "after")
                .flatMap(phase -> Stream.of(phase + " largest_mb", phase + " last_mb"))
                .toList());
  }

  @Test
  void anIdleDispatcherIsMeasured() throws Exception {
    assertThat(positiveFigures("idle"))
        .containsExactlyInAnyOrder(
            "idle statements_per_s", "idle buffers_per_s", "idle core_percent");
  }

  @Test
  void aBenchmarkThatCanNotWriteItsFiguresSaysSoBeforeItBegins() throws Exception {
    Result result = escapement.run("bench", "relay", "--json", "/nonexistent/figures.json");
    assertThat(result.exit()).isEqualTo(2);
    assertThat(result.err())
        .startsWith("escapement: --json: /nonexistent/figures.json")
        .hasLineCount(1);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void benchWithoutANameSaysWhichThereAre() throws Exception {
    Result result = escapement.run("bench");
    assertThat(result.exit()).isEqualTo(2);
    assertThat(result.err())
        .contains("ingest", "pipeline", "relay", "dispatch", "lateness", "idle")
        .hasLineCount(1);
  }

  /** As below; each figure must be more than nothing. */
  private List<String> positiveFigures(String bench) throws Exception {
    List<String> told = figures(bench);
    for (String line : Files.readAllLines(scratch.resolve(bench + ".json"))) {
      assertThat(JSON.readTree(line).get("value").asDouble()).as(line).isPositive();
    }
    return told;
  }

  /** The cases and metrics that a quick run tells, each checked for its shape. */
  private List<String> figures(String bench, String... more) throws Exception {
    Path file = scratch.resolve(bench + ".json");
    String[] command =
        Stream.concat(
                Stream.of("bench", bench, "--quick", "--json", file.toString()), Stream.of(more))
            .toArray(String[]::new);
    Result result = escapement.run(command);
    assertThat(result.exit()).as(result.toString()).isZero();
    List<String> told = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      JsonNode figure = JSON.readTree(line);
      assertThat(figure.fieldNames())
          .toIterable()
          .containsExactly("bench", "case", "metric", "value", "unit");
      assertThat(figure.get("bench").asText()).isEqualTo(bench);
      assertThat(figure.get("value").isNumber()).as(line).isTrue();
      assertThat(figure.get("value").asDouble()).as(line).isNotNegative();
      assertThat(figure.get("unit").asText()).isNotEmpty();
      told.add(figure.get("case").asText() + " " + figure.get("metric").asText());
      assertThat(result.out()).contains(figure.get("metric").asText());
    }
    return told;
  }
}
