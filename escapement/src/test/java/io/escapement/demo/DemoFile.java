package io.escapement.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/**
 * Makes examples/demo.jsonl: the same file from the same seed, without any time in it.
 *
 * <p>Four kinds for four tenants, due at once or some seconds later. Some lines repeat an earlier
 * one, some contradict one, some can't be requests, and one tenant asks for far more than its
 * budget holds.
 */
final class DemoFile {

  private static final long SEED = 20_261_129L;

  private static final int ORDINARY = 1_540;
  private static final int WEBHOOKS = 160;
  private static final int OVER_BUDGET = 160;
  private static final int DUPLICATES = 60;
  private static final int CONFLICTS = 40;
  private static final int MALFORMED = 40;

  private static final String[] ROOMY = {"north", "south", "east"};
  private static final String TIGHT = "west";

  /** What each malformed line lacks; the number makes them different. */
  private static final List<IntFunction<String>> MISTAKES =
      List.of(
          n -> event("m-" + n, "demo.unheard-of", TIGHT, n, ""),
          n -> event("m-" + n, "demo.reminder.send", "", n, ""),
          n -> event("", "demo.reminder.send", "north", n, ""),
          n -> event("m-" + n, "demo.reminder.send", "south", n, ",\"delayms\":\"soon\""),
          n -> event("m-" + n, "demo.booking.close", "east", n, ",\"dueat\":\"tomorrow\""),
          n ->
              event("m-" + n, "demo.invoice.issue", "north", n, ",\"delayms\":3000,\"ttlms\":1000"),
          n -> event("m-" + n, "demo.invoice.issue", "south", n, ",\"maxattempts\":0"),
          n ->
              event(
                  "m-" + n, "demo.reminder.send", "east", n, ",\"time\":\"2020-02-29T12:00:00Z\""));

  private final Random random = new Random(SEED);
  private final List<String> lines = new ArrayList<>();

  private DemoFile() {}

  /** The lines, in the order in which they are sent. */
  static List<String> lines() {
    return new DemoFile().make();
  }

  private List<String> make() {
    List<Runnable> steps = new ArrayList<>();
    repeat(ORDINARY, n -> steps.add(() -> ordinary(n)));
    repeat(WEBHOOKS, n -> steps.add(() -> webhook(n)));
    repeat(OVER_BUDGET, n -> steps.add(() -> overBudget(n)));
    repeat(DUPLICATES, n -> steps.add(() -> lines.add(earlier())));
    repeat(CONFLICTS, n -> steps.add(this::conflict));
    repeat(MALFORMED, n -> steps.add(() -> lines.add(MISTAKES.get(n % MISTAKES.size()).apply(n))));
    Collections.shuffle(steps, random);
    // So that there is something to repeat and to contradict.
    ordinary(ORDINARY);
    steps.forEach(Runnable::run);
    return lines;
  }

  private void ordinary(int n) {
    String kind =
        switch (n % 3) {
          case 0 -> "demo.reminder.send";
          case 1 -> "demo.booking.close";
          default -> "demo.invoice.issue";
        };
    String delay = random.nextInt(10) < 4 ? "" : delay(1_000 + random.nextInt(4_001));
    lines.add(event("o-" + n, kind, ROOMY[random.nextInt(ROOMY.length)], n, delay));
  }

  /** To a provider outside. */
  private void webhook(int n) {
    String delay = n % 4 == 0 ? delay(1_000 + random.nextInt(3_001)) : "";
    lines.add(event("w-" + n, "demo.webhook.send", ROOMY[random.nextInt(ROOMY.length)], n, delay));
  }

  /** Due late, so that all of them are outstanding together. */
  private void overBudget(int n) {
    lines.add(event("b-" + n, "demo.reminder.send", TIGHT, n, delay(5_000)));
  }

  private void conflict() {
    lines.add(earlier().replace("\"note\":\"", "\"note\":\"not "));
  }

  /** An earlier ordinary line that is one event for the first time. */
  private String earlier() {
    String line;
    do {
      line = lines.get(random.nextInt(lines.size()));
    } while (!line.contains("\"o-") || line.contains("not "));
    return line;
  }

  private static String delay(int millis) {
    return ",\"delayms\":" + millis;
  }

  private static String event(String id, String type, String tenant, int n, String more) {
    return "{\"specversion\":\"1.0\""
        + (id.isEmpty() ? "" : ",\"id\":\"" + id + "\"")
        + ",\"source\":\"/demo\",\"type\":\""
        + type
        + "\",\"subject\":\"guest-"
        + n % 97
        + "\""
        + (tenant.isEmpty() ? "" : ",\"tenant\":\"" + tenant + "\"")
        + more
        + ",\"data\":{\"number\":"
        + n
        + ",\"note\":\"as agreed\"}}";
  }

  private static void repeat(int times, IntConsumer step) {
    for (int n = 0; n < times; n++) {
      step.accept(n);
    }
  }
}
