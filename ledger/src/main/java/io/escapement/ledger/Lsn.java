package io.escapement.ledger;

import java.util.Locale;

/**
 * A position in PostgreSQL's write-ahead log, written as PostgreSQL writes it: {@code 0/16B3748}.
 */
public record Lsn(long value) implements Comparable<Lsn> {

  /** Before everything. */
  public static final Lsn ZERO = new Lsn(0);

  /**
   * Reads PostgreSQL's notation.
   *
   * @throws IllegalArgumentException if the text is not a position
   */
  public static Lsn parse(String text) {
    int slash = text.indexOf('/');
    if (slash < 1) {
      throw new IllegalArgumentException("'" + text + "' is not a WAL position");
    }
    long high = Long.parseUnsignedLong(text.substring(0, slash), 16);
    long low = Long.parseUnsignedLong(text.substring(slash + 1), 16);
    return new Lsn(high << 32 | low);
  }

  /**
   * How many bytes of log lie between an earlier position and this one; negative if it is later.
   */
  public long bytesSince(Lsn earlier) {
    return value - earlier.value;
  }

  @Override
  public int compareTo(Lsn other) {
    return Long.compareUnsigned(value, other.value);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%X/%X", value >>> 32, value & 0xFFFF_FFFFL);
  }
}
