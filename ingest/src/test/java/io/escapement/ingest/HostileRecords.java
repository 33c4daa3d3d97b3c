package io.escapement.ingest;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/**
 * Records that nobody would send on purpose, from a seed: sound requests that were mutilated, so
 * that most get past the first check and fail somewhere inside.
 */
final class HostileRecords {

  private static final String[] NAMES = {
    "specversion",
    "id",
    "source",
    "type",
    "subject",
    "time",
    "tenant",
    "dueat",
    "delayms",
    "expiresat",
    "ttlms",
    "maxattempts",
    "datacontenttype",
    "dataschema",
    "data",
    "data_base64",
    "x",
    "X-y",
    ""
  };

  private static final String[] TEXTS = {
    "",
    "1.0",
    "0",
    "-1",
    "5",
    "1e400",
    "9".repeat(1_000),
    "2026-03-01T12:00:00Z",
    "+300000-01-01T00:00:00Z",
    "-999999999-01-01T00:00:00Z",
    "2026-03-01T12:00:00.999999999+18:00",
    "x".repeat(10_000),
    "escapement:x",
    "\u0000",
    "\ud83d\ude00",
    "a\tb\\n\n\\N",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
    "%%%",
    "://",
    "null"
  };

  private static final String[] JSON = {
    "null",
    "true",
    "5",
    "-0.0",
    "1e999",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "{}",
    "[[]]",
    "{\"a\":1}",
    "\"acme\"",
    "\"2026-03-01T12:00:00Z\"",
    "9".repeat(1_001)
  };

  private final Random random;

  HostileRecords(long seed) {
    this.random = new Random(seed);
  }

  /** The next one; its id, where one is left, ends with {@code number}. */
  RecordBuilder next(int number) {
    RecordBuilder record = random.nextBoolean() ? headers(number) : json(number);
    if (random.nextInt(10) == 0) {
      record.key(null);
    }
    if (random.nextInt(20) == 0) {
      record.value(null);
    }
    if (random.nextInt(20) == 0) {
      record.header("content-type", text());
    }
    return record;
  }

  private RecordBuilder headers(int number) {
    RecordBuilder record = RecordBuilder.binary().with("ce_id", "hostile-" + number);
    int mutations = random.nextInt(4);
    for (int i = 0; i < mutations; i++) {
      String name = "ce_" + NAMES[random.nextInt(NAMES.length)];
      switch (random.nextInt(5)) {
        case 0 -> record.without(name);
        case 1 -> record.header(name, (byte[]) null);
        case 2 -> record.header(name, bytes());
        case 3 -> record.header(name, text());
        default -> record.with(name, text());
      }
    }
    return record;
  }

  private RecordBuilder json(int number) {
    StringBuilder event =
        new StringBuilder(RecordBuilder.json().replace("id-1", "hostile-" + number));
    int members = random.nextInt(3);
    for (int i = 0; i < members; i++) {
      String value = random.nextBoolean() ? JSON[random.nextInt(JSON.length)] : quoted(text());
      event.insert(event.length() - 1, ",\"" + NAMES[random.nextInt(NAMES.length)] + "\":" + value);
    }
    RecordBuilder record = RecordBuilder.structured("");
    byte[] bytes = event.toString().getBytes(StandardCharsets.UTF_8);
    if (random.nextInt(3) == 0) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    }
    if (random.nextInt(10) == 0) {
      bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
    }
    if (random.nextInt(30) == 0) {
      bytes = RecordBuilder.bytes("{\"data\":" + "[".repeat(2_000 + random.nextInt(5_000)));
    }
    return record.value(bytes);
  }

  private String text() {
    return TEXTS[random.nextInt(TEXTS.length)];
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(20)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
