package io.escapement.wheel.bench;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs every row for every contender that can take part in it and prints the comparison as JSON
 * lines, one number each. JMH's own report goes to the file named by the argument.
 */
public final class Comparison {
  private static final String OURS = "escapement";
  private static final int[] LIVE = {10_000, 1_000_000};

  /** JMH, Agrona and Netty use Unsafe; newer JDKs warn of it, older ones know no such option. */
  private static final List<String> JVM_ARGUMENTS =
      List.of(
          "-Xms2g",
          "-Xmx2g",
          "-XX:+IgnoreUnrecognizedVMOptions",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dslf4j.internal.verbosity=ERROR");

  private static final List<String> ALL =
      List.of(OURS, "agrona", "agrona_payload", "kafka", "netty", "stpe", "priority_queue");
  private static final List<String> DRIVEN =
      List.of(OURS, "agrona", "agrona_payload", "kafka", "stpe", "priority_queue");
  private static final List<String> ASKED = List.of(OURS, "kafka", "stpe", "priority_queue");

  private record Row(String method, String name, List<String> contenders, boolean perTimer) {}

  private static final List<Row> ROWS =
      List.of(
          new Row("schedule", "schedule", ALL, false),
          new Row("scheduleThenCancel", "schedule_then_cancel", ALL, false),
          new Row("fireAll", "fire_all_in_order", ALL, true),
          new Row("mixed", "mixed_4_of_5_cancelled", ALL, false),
          new Row("advanceNothingDue", "advance_nothing_due", DRIVEN, false),
          new Row("nextExpiry", "next_expiry", ASKED, false));

  private Comparison() {}

  public static void main(String[] args) throws RunnerException, IOException, InterruptedException {
    for (Row row : ROWS) {
      for (int live : LIVE) {
        print(row.name + "@" + live, "ns_per_op", "ns", nanosPerOperation(row, live, args[0]));
      }
    }
    for (int live : LIVE) {
      Map<String, Double> bytes = new LinkedHashMap<>();
      for (String contender : ALL) {
        bytes.put(contender, bytesPerTimer(contender, live));
      }
      print("bytes_per_timer@" + live, "bytes_per_timer", "bytes", bytes);
    }
  }

  private static Map<String, Double> nanosPerOperation(Row row, int live, String report)
      throws RunnerException {
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include(WheelBenchmark.class.getName() + "\\." + row.method + "$")
                    .param("contender", row.contenders.toArray(String[]::new))
                    .param("live", Integer.toString(live))
                    .forks(1)
                    .jvmArgs(JVM_ARGUMENTS.toArray(String[]::new))
                    .warmupIterations(3)
                    .warmupTime(TimeValue.milliseconds(150))
                    .measurementIterations(5)
                    .measurementTime(TimeValue.milliseconds(100))
                    .shouldFailOnError(true)
                    .output(new File(report).getPath())
                    .build())
            .run();
    Map<String, Double> nanos = new LinkedHashMap<>();
    for (RunResult result : results) {
      double score = result.getPrimaryResult().getStatistics().getPercentile(50);
      nanos.put(result.getParams().getParam("contender"), row.perTimer ? score / live : score);
    }
    return nanos;
  }

  /** In a JVM of its own, so that nothing is counted but this contender. */
  private static double bytesPerTimer(String contender, int live)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM_ARGUMENTS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Footprint.class.getName(), contender, Integer.toString(live)));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException("the footprint of " + contender + " was not measured");
    }
    return Double.parseDouble(answer.strip());
  }

  private static void print(String name, String metric, String unit, Map<String, Double> values) {
    values.forEach((contender, value) -> line(name, metric + ":" + contender, value, unit));
    double bestPeer =
        values.entrySet().stream()
            .filter(entry -> !entry.getKey().equals(OURS))
            .mapToDouble(Map.Entry::getValue)
            .min()
            .orElseThrow();
    double ours = values.getOrDefault(OURS, Double.NaN);
    line(name, "ratio_to_best_peer", ours / bestPeer, "ratio");
  }

  private static void line(String name, String metric, double value, String unit) {
    System.out.printf(
        Locale.ROOT,
        "{\"bench\":\"wheel\",\"case\":\"%s\",\"metric\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}%n",
        name,
        metric,
        value,
        unit);
  }
}
