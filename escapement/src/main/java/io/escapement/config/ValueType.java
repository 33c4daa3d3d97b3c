package io.escapement.config;

import io.escapement.dispatcher.LaneLimit;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a setting is written.
 *
 * @param <T> what it is read as
 */
sealed interface ValueType<T> {

  /**
   * Reads a value.
   *
   * @throws IllegalArgumentException with what to write instead, as an order: "write a number …"
   */
  T read(String text);

  /** What stands for it in help texts. */
  String placeholder();

  /** Any text, the empty one only if allowed. */
  record Text(boolean mayBeEmpty, String placeholder) implements ValueType<String> {
    @Override
    public String read(String text) {
      if (text.isEmpty() && !mayBeEmpty) {
        throw new IllegalArgumentException("write a value, it can't be empty");
      }
      return text;
    }
  }

  /** Text of one shape. */
  record Shaped(Pattern shape, String order, String placeholder) implements ValueType<String> {
    @Override
    public String read(String text) {
      if (!shape.matcher(text).matches()) {
        throw new IllegalArgumentException(order);
      }
      return text;
    }
  }

  /** A whole number between bounds, both allowed. */
  record WholeNumber(int least, int most) implements ValueType<Integer> {
    @Override
    public Integer read(String text) {
      try {
        int number = Integer.parseInt(text);
        if (number >= least && number <= most) {
          return number;
        }
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(order(), e);
      }
      throw new IllegalArgumentException(order());
    }

    private String order() {
      return "write a whole number from " + least + " to " + most;
    }

    @Override
    public String placeholder() {
      return "N";
    }
  }

  /** A length of time between bounds, both allowed. */
  record Time(Duration least, Duration most) implements ValueType<Duration> {
    private static final Pattern SHAPE = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

    @Override
    public Duration read(String text) {
      Matcher parts = SHAPE.matcher(text);
      if (!parts.matches()) {
        throw new IllegalArgumentException("write a number with its unit: 500ms, 30s, 5m or 1h");
      }
      long number = Long.parseLong(parts.group(1));
      Duration time =
          switch (parts.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
          };
      if (time.compareTo(least) < 0 || time.compareTo(most) > 0) {
        throw new IllegalArgumentException("write " + written(least) + " to " + written(most));
      }
      return time;
    }

    @Override
    public String placeholder() {
      return "TIME";
    }

    private static String written(Duration time) {
      if (time.toMillisPart() != 0) {
        return time.toMillis() + "ms";
      }
      long seconds = time.toSeconds();
      if (seconds % 3600 == 0) {
        return time.toHours() + "h";
      }
      return seconds % 60 == 0 ? time.toMinutes() + "m" : seconds + "s";
    }
  }

  /** Names, separated by commas; none at all if the shape allows an empty one. */
  record Names(Pattern shape, String order) implements ValueType<List<String>> {
    @Override
    public List<String> read(String text) {
      if (text.isBlank() && shape.matcher("").matches()) {
        return List.of();
      }
      List<String> names = Arrays.stream(text.split(",", -1)).map(String::strip).toList();
      if (!names.stream().allMatch(name -> shape.matcher(name).matches())) {
        throw new IllegalArgumentException(order);
      }
      return names;
    }

    @Override
    public String placeholder() {
      return "NAME[,NAME]";
    }
  }

  /** Limits by name: how many at once and, if asked for, how many a second. */
  record Limits() implements ValueType<Map<String, LaneLimit>> {
    private static final Pattern SHAPE =
        Pattern.compile("([^,=]+)=([1-9]\\d{0,4})(?:@(\\d{1,6}(?:\\.\\d{1,3})?))?");

    @Override
    public Map<String, LaneLimit> read(String text) {
      Map<String, LaneLimit> limits = new TreeMap<>();
      if (text.isBlank()) {
        return limits;
      }
      for (String one : text.split(",", -1)) {
        Matcher parts = SHAPE.matcher(one.strip());
        double rate =
            !parts.matches() || parts.group(3) == null
                ? Double.POSITIVE_INFINITY
                : Double.parseDouble(parts.group(3));
        if (!parts.matches() || rate == 0) {
          throw new IllegalArgumentException(
              "write NAME=AT_ONCE or NAME=AT_ONCE@A_SECOND, separated by commas");
        }
        int atOnce = Integer.parseInt(parts.group(2));
        if (limits.put(parts.group(1), new LaneLimit(atOnce, rate)) != null) {
          throw new IllegalArgumentException("name each only once, not so " + parts.group(1));
        }
      }
      return limits;
    }

    @Override
    public String placeholder() {
      return "NAME=N[@RATE][,…]";
    }
  }
}
