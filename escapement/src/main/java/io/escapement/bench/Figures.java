package io.escapement.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the repeats of a benchmark measured; what is told is the median of each figure.
 *
 * <p>Thread rule: one thread.
 */
public final class Figures {

  private record What(String caseName, String metric, String unit) {}

  private final String bench;
  private final Map<What, List<Double>> samples = new LinkedHashMap<>();

  Figures(String bench) {
    this.bench = bench;
  }

  /** Adds what one repeat measured. */
  void add(String caseName, String metric, double value, String unit) {
    samples.computeIfAbsent(new What(caseName, metric, unit), w -> new ArrayList<>()).add(value);
  }

  /** The medians, in the order in which their first samples came. */
  public List<Figure> medians() {
    List<Figure> medians = new ArrayList<>();
    samples.forEach(
        (what, values) ->
            medians.add(
                new Figure(bench, what.caseName(), what.metric(), median(values), what.unit())));
    return medians;
  }

  /** The spread of a figure's samples, for people. */
  public String spread(Figure figure) {
    List<Double> values =
        samples.getOrDefault(
            new What(figure.caseName(), figure.metric(), figure.unit()), List.of());
    return values.stream()
        .sorted()
        .map(v -> new Figure(bench, figure.caseName(), figure.metric(), v, figure.unit()).shown())
        .reduce((first, second) -> first + " " + second)
        .orElse("");
  }

  /** The middle one, or what lies between the middle two. */
  static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
