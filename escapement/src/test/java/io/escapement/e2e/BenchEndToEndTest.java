package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.escapement.e2e.Distribution.Result;
import io.escapement.e2e.TestServers.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Benchmarks run and tell what they should; how fast anything is, no test asks. So some run at
 * once: mostly they wait, for servers and parts to start, for due times, for calm.
 */
@Execution(ExecutionMode.CONCURRENT)
class BenchEndToEndTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** So that what counts what a dispatcher asks for has something to count soon. */
  private static final String[] OFTEN = {"--set", "dispatcher.sweep=1s"};

  /** Null where each benchmark starts its own, as it usually does. */
  private static @Nullable TestServers servers;

  @TempDir private Path scratch;
  private Distribution escapement;

  @BeforeAll
  static void startServers(@TempDir Path data) throws Exception {
    servers = Kind.chosen() == Kind.EMBEDDED ? null : TestServers.start(data);
  }

  @AfterAll
  static void stopServers() throws Exception {
    CloseAll.of(servers);
  }

  @BeforeEach
  void assembled() {
    escapement = servers == null ? Distribution.full(scratch) : servers.full(scratch);
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
    assertThat(
            positiveFigures(
                "discovery", with(OFTEN, "--poll-every", "100ms", "--idle-seconds", "3")))
        .containsExactlyInAnyOrderElementsOf(
            Stream.of("wheel", "poll 100ms")
                .flatMap(way -> metrics.stream().map(metric -> way + " " + metric))
                .toList());
  }

  @Test
  void aTenantsLatenessIsMeasuredAloneAndBesideAnothersBacklog() throws Exception {
    assertThat(positiveFigures("fairness"))
        .containsExactlyInAnyOrder(
            "alone p50_ms",
            "alone p99_ms",
            "alone max_ms",
            "beside p50_ms",
            "beside p99_ms",
            "beside max_ms",
            "beside p99_ratio");
  }

  /** The control: beside nothing, nothing is measured. */
  @Test
  void aBacklogThatEndsTooSoonIsNoBacklog() throws Exception {
    Result result = quickly("fairness", "--backlog", "1", "--handler-ms", "1");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).contains("the backlog ended before the measurement did");
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
    assertThat(positiveFigures("idle", with(OFTEN, "--seconds", "3")))
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
        .contains("ingest", "pipeline", "relay", "dispatch", "lateness", "fairness", "idle")
        .hasLineCount(1);
  }

  /** As below; each figure must be more than nothing. */
  private List<String> positiveFigures(String bench, String... more) throws Exception {
    List<String> told = figures(bench, more);
    for (String line : Files.readAllLines(file(bench))) {
      assertThat(JSON.readTree(line).get("value").asDouble()).as(line).isPositive();
    }
    return told;
  }

  /** The cases and metrics that a quick run tells, each checked for its shape. */
  private List<String> figures(String bench, String... more) throws Exception {
    Result result = quickly(bench, more);
    assertThat(result.exit()).as(result.toString()).isZero();
    List<String> told = new ArrayList<>();
    for (String line : Files.readAllLines(file(bench))) {
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

  /** Runs one. The second compiler, here and in the parts, would cost more than it saves. */
  private Result quickly(String bench, String... more) throws Exception {
    escapement.with("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1");
    String[] order = with(more, "bench", bench, "--quick", "--json", file(bench).toString());
    return escapement.run(servers == null ? order : with(new String[] {"--given"}, order));
  }

  private Path file(String bench) {
    return scratch.resolve(bench + ".json");
  }

  private static String[] with(String[] last, String... first) {
    return Stream.concat(Stream.of(first), Stream.of(last)).toArray(String[]::new);
  }
}
