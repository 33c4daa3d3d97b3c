package io.escapement.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One measured figure.
 *
 * @param bench what was run
 * @param caseName under which circumstances
 * @param metric what was measured
 * @param value the median of the repeats
 * @param unit of the value
 */
public record Figure(String bench, String caseName, String metric, double value, String unit) {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final MathContext FOUR_DIGITS = new MathContext(4);

  /** The figure as a line of JSON. */
  public String json() {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("bench", bench);
    line.put("case", caseName);
    line.put("metric", metric);
    line.put("value", rounded());
    line.put("unit", unit);
    try {
      return JSON.writeValueAsString(line);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a figure can't be written: " + line, e);
    }
  }

  /** The value for people: as many digits as mean something. */
  public String shown() {
    return rounded().toPlainString();
  }

  private BigDecimal rounded() {
    BigDecimal exact = BigDecimal.valueOf(value);
    return Math.abs(value) >= 1_000
        ? exact.setScale(0, RoundingMode.HALF_UP)
        : new BigDecimal(exact.round(FOUR_DIGITS).toPlainString());
  }
}
