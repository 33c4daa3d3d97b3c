package io.escapement.ledger;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Unpacks the text of an outbox row: one event a line, fields separated by tabs, the first field
 * tells the event. {@code \\}, {@code \t}, {@code \n}, {@code \r} stand for the characters
 * themselves and {@code \N} for null, as in PostgreSQL's COPY. The functions {@code
 * escapement.field} and {@code escapement.settle} write it.
 *
 * <p>Packed text is a third cheaper than JSON to write in the hottest transactions of the ledger.
 */
public final class OutboxRow {

  private OutboxRow() {}

  /**
   * The events of a row, in order.
   *
   * @throws IllegalArgumentException if the text is not an outbox row's
   */
  public static List<OutboxEvent> parse(String events) {
    List<OutboxEvent> parsed = new ArrayList<>();
    int start = 0;
    while (start < events.length()) {
      int end = events.indexOf('\n', start);
      if (end < 0) {
        end = events.length();
      }
      if (end > start) {
        parsed.add(parseLine(new Fields(events, start, end)));
      }
      start = end + 1;
    }
    return parsed;
  }

  private static OutboxEvent parseLine(Fields f) {
    String type = f.text();
    return switch (type) {
      case "R" ->
          new OutboxEvent.Receipt(
              Decision.of(f.text()),
              f.text(),
              f.integer(),
              f.number(),
              f.optional(),
              f.optional(),
              f.optional(),
              f.optional(),
              f.optional(),
              tasks(f.optional()),
              millis(f.hasMore() ? f.optional() : null));
      case "C" ->
          new OutboxEvent.CommandReceipt(
              CommandDecision.of(f.text()),
              f.text(),
              f.integer(),
              f.number(),
              f.optional(),
              f.optional(),
              f.optional(),
              f.optional(),
              results(f));
      case "D" ->
          new OutboxEvent.Hint(
              f.text(), f.number(), f.text(), f.integer(), instantOfMicros(f.number()));
      case "O" ->
          new OutboxEvent.Outcome(
              f.text(),
              f.number(),
              f.text(),
              f.text(),
              f.text(),
              f.text(),
              f.text(),
              f.integer(),
              f.optional(),
              f.optional(),
              f.hasMore() && f.text().equals("t"));
      case "X" ->
          new OutboxEvent.DeadLetter(
              f.text(),
              f.integer(),
              f.number(),
              f.text(),
              RecordEnvelope.decode(base64(f.text())),
              nullableBase64(f.optional()),
              f.text().equals("withheld"));
      default -> throw new IllegalArgumentException("unknown outbox event '" + type + "'");
    };
  }

  private static List<OutboxEvent.Receipt.TaskState> tasks(@Nullable String packed) {
    if (packed == null || packed.isEmpty()) {
      return List.of();
    }
    List<OutboxEvent.Receipt.TaskState> tasks = new ArrayList<>(1);
    for (String one : packed.split(",", -1)) {
      int colon = one.indexOf(':');
      tasks.add(
          new OutboxEvent.Receipt.TaskState(
              Long.parseLong(one.substring(0, colon)), one.substring(colon + 1)));
    }
    return tasks;
  }

  /** How many there are, then target and result of each. */
  private static List<CommandResult> results(Fields f) {
    int count = f.integer();
    List<CommandResult> results = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      results.add(new CommandResult(f.text(), f.text()));
    }
    return results;
  }

  private static @Nullable Duration millis(@Nullable String number) {
    return number == null ? null : Duration.ofMillis(Long.parseLong(number));
  }

  private static byte[] base64(String text) {
    return Base64.getMimeDecoder().decode(text);
  }

  private static byte @Nullable [] nullableBase64(@Nullable String text) {
    return text == null ? null : base64(text);
  }

  private static Instant instantOfMicros(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  /** A cursor over one line's fields. */
  private static final class Fields {
    private final String row;
    private int next;
    private final int end;

    Fields(String row, int start, int end) {
      this.row = row;
      this.next = start;
      this.end = end;
    }

    /** Rows that an earlier version wrote may have fewer fields. */
    boolean hasMore() {
      return next <= end;
    }

    @Nullable String optional() {
      if (next > end) {
        throw new IllegalArgumentException("an outbox event lacks a field: " + row);
      }
      int tab = row.indexOf('\t', next);
      int stop = tab < 0 || tab > end ? end : tab;
      String raw = row.substring(next, stop);
      next = stop + 1;
      if (raw.equals("\\N")) {
        return null;
      }
      return raw.indexOf('\\') < 0 ? raw : unescape(raw);
    }

    String text() {
      String value = optional();
      if (value == null) {
        throw new IllegalArgumentException("an outbox event has null in a field: " + row);
      }
      return value;
    }

    long number() {
      return Long.parseLong(text());
    }

    int integer() {
      return Integer.parseInt(text());
    }

    private static String unescape(String raw) {
      StringBuilder plain = new StringBuilder(raw.length());
      int i = 0;
      while (i < raw.length()) {
        char c = raw.charAt(i++);
        if (c == '\\' && i < raw.length()) {
          c = raw.charAt(i++);
          plain.append(
              switch (c) {
                case 't' -> '\t';
                case 'n' -> '\n';
                case 'r' -> '\r';
                default -> c;
              });
        } else {
          plain.append(c);
        }
      }
      return plain.toString();
    }
  }
}
