package io.escapement.demo;

import io.escapement.assembly.Assembly;
import io.escapement.assembly.CommandFailure;
import io.escapement.assembly.LocalEscapement;
import io.escapement.config.Key;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import io.escapement.submit.Receipts;
import io.escapement.submit.RequestLines;
import io.escapement.submit.RequestLines.Line;
import io.escapement.submit.Sender;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Sends the demo's events to a running Escapement and watches until all of them are decided and all
 * that was accepted is done.
 *
 * <p>Thread rule: one thread runs it; another one tells the progress meanwhile. Failure: {@link
 * CommandFailure} if a part ends by itself or time is up.
 */
public final class DemoRun {

  private static final Duration SENT_OVER = Duration.ofSeconds(4);

  /** The provider loses answers while one of four stretches of so many events is sent. */
  private static final int LOST_EVERY = 100;

  private static final int LOST_OF = 4;

  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final Duration READ_LIMIT = Duration.ofSeconds(10);

  private final LocalEscapement local;
  private final List<Line> lines = new ArrayList<>();
  private final Duration limit;
  private final BooleanSupplier stopped;

  /**
   * A demo of one file of events; nothing happens yet.
   *
   * @param limit how long it may take
   * @param stopped whether somebody wants it to end early
   */
  public DemoRun(LocalEscapement local, Path file, Duration limit, BooleanSupplier stopped) {
    this.local = local;
    RequestLines inFile = new RequestLines(file);
    if (inFile.check() == 0) {
      throw new CommandFailure(file + " holds no event");
    }
    inFile.forEach(lines::add);
    this.limit = limit;
    this.stopped = stopped;
  }

  /**
   * Runs it.
   *
   * @param tellEvery how often progress is told
   */
  public DemoResult run(Consumer<DemoProgress> progress, Duration tellEvery)
      throws InterruptedException {
    Assembly assembly = local.assembly();
    try (Ledger operator = assembly.ledger(Role.OPERATOR)) {
      DemoWorld.limit(operator);
    }
    String topic = assembly.topics().requests();
    Map<String, String> kafka = assembly.config().kafkaClient();
    try (Receipts receipts = Receipts.follow(kafka, assembly.topics(), topic);
        Sender sender = new Sender(kafka, topic, assembly.config().time(Key.KAFKA_TIMEOUT));
        Ledger reader = assembly.ledger(Role.READER)) {
      sendFirst(sender, receipts);
      Look look = new Look(System.nanoTime(), sender, receipts, reader);
      Teller teller = Teller.start(look, progress, tellEvery);
      try {
        sendOthers(sender);
        awaitEnd(look);
      } finally {
        teller.stop();
      }
      progress.accept(look.now());
      receipts.readToEnd(READ_LIMIT);
      return new DemoResult(
          sender.finish().size(),
          receipts.tally(),
          receipts.decisionsByKind(),
          reader.counts(),
          local.stack().number("select count(*) from " + BookingHandler.TABLE),
          local.provider().counted(),
          reader.lateness(),
          reader.audit());
    }
  }

  /** Alone, until its receipt is there: then every part works. */
  private void sendFirst(Sender sender, Receipts receipts) throws InterruptedException {
    sender.send(lines.get(0));
    if (!receipts.await(sender.finish(), limit).isEmpty()) {
      throw new CommandFailure("no receipt for the first event within " + limit.toSeconds() + " s");
    }
  }

  /** Evenly over some seconds, so that there is something to watch. */
  private void sendOthers(Sender sender) {
    long start = System.nanoTime();
    long pauseNanos = SENT_OVER.toNanos() / lines.size();
    for (int i = 1; i < lines.size(); i++) {
      LockSupport.parkNanos(start + i * pauseNanos - System.nanoTime());
      requireWanted();
      if (i % LOST_EVERY == 0) {
        local.provider().answer(i % (LOST_OF * LOST_EVERY) != 0);
      }
      sender.send(lines.get(i));
    }
    local.provider().answer(true);
    sender.finish();
  }

  private void awaitEnd(Look look) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!look.now().isOver()) {
      local.parts().requireRunning();
      requireWanted();
      if (System.nanoTime() > deadline) {
        throw new CommandFailure(
            "the demo is not over within " + limit.toSeconds() + " s: " + look.now().line());
      }
      LockSupport.parkNanos(LOOK_EVERY.toNanos());
    }
  }

  private void requireWanted() {
    if (stopped.getAsBoolean()) {
      throw new CommandFailure("the demo was stopped before its end");
    }
  }

  /** Where things stand, from those who know. */
  private record Look(long startNanos, Sender sender, Receipts receipts, Ledger reader) {
    DemoProgress now() {
      return new DemoProgress(
          Duration.ofNanos(System.nanoTime() - startNanos),
          sender.count(),
          receipts.decisions(),
          reader.counts());
    }
  }

  /** Tells progress until it is stopped. */
  private record Teller(Thread thread, CountDownLatch end) {
    static Teller start(Look look, Consumer<DemoProgress> progress, Duration every) {
      CountDownLatch end = new CountDownLatch(1);
      Thread thread =
          Thread.ofPlatform()
              .daemon()
              .name("demo-progress")
              .start(
                  () -> {
                    try {
                      while (!end.await(every.toNanos(), TimeUnit.NANOSECONDS)) {
                        progress.accept(look.now());
                      }
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  });
      return new Teller(thread, end);
    }

    void stop() throws InterruptedException {
      end.countDown();
      thread.join();
    }
  }
}
