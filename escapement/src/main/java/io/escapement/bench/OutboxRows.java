package io.escapement.bench;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ThreadLocalRandom;

/** Outbox rows as the protocol's functions write them, without the tasks that they speak of. */
final class OutboxRows {

  private static final int SLOTS = 256;

  private OutboxRows() {}

  /** Hints for tasks with these numbers. */
  static String hints(long firstTask, int count) {
    StringBuilder row = new StringBuilder();
    for (int i = 0; i < count; i++) {
      row.append(i == 0 ? "" : "\n");
      hint(row, firstTask + i);
    }
    return row.toString();
  }

  /** What admission says of so many records: a receipt and a hint each. */
  static String admitted(String topic, long firstTask, int records) {
    StringBuilder row = new StringBuilder();
    for (int i = 0; i < records; i++) {
      long task = firstTask + i;
      row.append(i == 0 ? "" : "\n").append("R\taccepted\t").append(topic).append("\t0\t");
      row.append(task).append("\ttenant-0\t").append(BenchWorld.KIND).append('\t');
      row.append(BenchWorld.SOURCE).append('\t').append(task).append("\t\\N\t").append(task);
      row.append(":SCHEDULED\n");
      hint(row, task);
    }
    return row.toString();
  }

  private static void hint(StringBuilder row, long task) {
    row.append("D\tdefault\t").append(task).append("\ttenant-0\t");
    row.append(ThreadLocalRandom.current().nextInt(SLOTS)).append('\t');
    row.append(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
  }
}
