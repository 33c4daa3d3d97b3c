package io.escapement.ingest;

import io.cloudevents.rw.CloudEventRWException;
import io.cloudevents.types.Time;
import io.escapement.ledger.Limits;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * When a request was issued, is due and expires.
 *
 * <p>Nothing here asks a clock. {@code delayms} and {@code ttlms} count from issued-at, and whether
 * a moment has passed is judged by the database alone: a due time that this machine believes past
 * may still be ahead there. The database keeps microseconds; due times are rounded up to them, so
 * that rounding never makes anything early.
 *
 * @param dueAt null means at once
 * @param expiresAt null means never
 */
record RequestTimes(Instant issuedAt, @Nullable Instant dueAt, @Nullable Instant expiresAt) {

  private static final String TIME = "time";

  /** RFC 3339 has years of four digits. */
  private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

  private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999999Z");

  /** More digits than this are beyond every limit of milliseconds or attempts. */
  private static final int MAX_DIGITS = 18;

  /** The times of one record; {@code time} is the event's own, as the SDK read it. */
  static RequestTimes of(
      @Nullable OffsetDateTime time, ConsumerRecord<byte[], byte[]> record, RawAttributes raw)
      throws InvalidAttribute {
    Instant issuedAt = issuedAt(time, record);
    Instant dueAt = moment("dueat", "delayms", 0, issuedAt, raw);
    Instant expiresAt = moment("expiresat", "ttlms", 1, issuedAt, raw);
    if (dueAt != null) {
      dueAt = roundedUp(dueAt);
    }
    if (expiresAt != null) {
      expiresAt = expiresAt.truncatedTo(ChronoUnit.MICROS);
      if (!expiresAt.isAfter(dueAt == null ? issuedAt : dueAt)) {
        throw new InvalidAttribute(
            raw.get("expiresat") == null ? "ttlms" : "expiresat",
            expiresAt + (dueAt == null ? " is not after the request's time" : " is not after due"));
      }
    }
    return new RequestTimes(issuedAt, dueAt, expiresAt);
  }

  private static Instant issuedAt(
      @Nullable OffsetDateTime time, ConsumerRecord<byte[], byte[]> record)
      throws InvalidAttribute {
    if (time != null) {
      return within(TIME, time.toInstant()).truncatedTo(ChronoUnit.MICROS);
    }
    if (record.timestamp() < 0) {
      throw new InvalidAttribute(TIME, "missing, and the record has no timestamp");
    }
    return within(TIME, Instant.ofEpochMilli(record.timestamp()));
  }

  /** A moment given either outright or as milliseconds from issued-at; null if neither is. */
  private static @Nullable Instant moment(
      String absolute, String relative, long least, Instant issuedAt, RawAttributes raw)
      throws InvalidAttribute {
    String outright = raw.get(absolute);
    Long millis = wholeNumber(relative, raw);
    if (outright != null && millis != null) {
      throw new InvalidAttribute(relative, "given beside '" + absolute + "'; only one may be");
    }
    if (millis != null) {
      if (millis < least) {
        throw new InvalidAttribute(relative, millis + " is less than " + least);
      }
      if (millis > Limits.FURTHEST_DUE.toMillis()) {
        throw new InvalidAttribute(relative, millis + " is more than " + furthest());
      }
      return within(relative, issuedAt.plusMillis(millis));
    }
    if (outright == null) {
      return null;
    }
    Instant moment = within(absolute, parse(absolute, outright));
    if (moment.isAfter(issuedAt.plus(Limits.FURTHEST_DUE))) {
      throw new InvalidAttribute(
          absolute, WireText.quote(outright) + " is more than " + furthest() + " ahead");
    }
    return moment;
  }

  /** An integer in decimal digits; null if absent. */
  static @Nullable Long wholeNumber(String name, RawAttributes raw) throws InvalidAttribute {
    String text = raw.get(name);
    if (text == null) {
      return null;
    }
    int digits = text.startsWith("-") ? 1 : 0;
    if (text.length() == digits || !text.chars().skip(digits).allMatch(c -> c >= '0' && c <= '9')) {
      throw new InvalidAttribute(name, WireText.quote(text) + " is not a whole number");
    }
    if (text.length() - digits > MAX_DIGITS) {
      throw new InvalidAttribute(
          name, WireText.quote(text) + " has more than " + MAX_DIGITS + " digits");
    }
    return Long.valueOf(text);
  }

  private static Instant parse(String name, String text) throws InvalidAttribute {
    try {
      return Time.parseTime(name, text).toInstant();
    } catch (CloudEventRWException e) {
      throw new InvalidAttribute(name, WireText.quote(text) + " is not an RFC 3339 time");
    }
  }

  private static Instant within(String name, Instant moment) throws InvalidAttribute {
    if (moment.isBefore(EARLIEST) || moment.isAfter(LATEST)) {
      throw new InvalidAttribute(name, moment + " is not between the years 1 and 9999");
    }
    return moment;
  }

  private static Instant roundedUp(Instant moment) {
    Instant micros = moment.truncatedTo(ChronoUnit.MICROS);
    return micros.equals(moment) ? moment : micros.plus(1, ChronoUnit.MICROS);
  }

  private static String furthest() {
    return Limits.FURTHEST_DUE.toDays() + " days";
  }
}
