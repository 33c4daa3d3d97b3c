package io.escapement.dispatcher.relay;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import io.debezium.engine.spi.OffsetCommitPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Debezium's engine as a thing that is started once, ends for whatever reason, and can be closed at
 * any moment within a time limit.
 *
 * <p>Thread rule: the consumer is called on one of the engine's threads; the rest from one thread.
 */
final class OutboxStream implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OutboxStream.class);

  private final DebeziumEngine<RecordChangeEvent<SourceRecord>> engine;
  private final Consumer<RuntimeException> ended;
  private final CountDownLatch polling = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private final Thread thread;
  private final Duration closeTimeout;

  /**
   * An engine that is not started yet.
   *
   * @param acknowledge marks what is processed, if anything is; asked on the consumer's thread
   *     after every look at the stream, whether something came or not
   * @param ended told why, when the engine has stopped; also after {@link #close}
   */
  OutboxStream(
      Properties settings,
      Duration closeTimeout,
      DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> consumer,
      BooleanSupplier acknowledge,
      Consumer<RuntimeException> ended) {
    this.closeTimeout = closeTimeout;
    this.ended = ended;
    this.engine =
        DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
            .using(settings)
            .using((OffsetCommitPolicy) (marked, since) -> acknowledge.getAsBoolean())
            .using((DebeziumEngine.CompletionCallback) this::completed)
            .using(
                new DebeziumEngine.ConnectorCallback() {
                  @Override
                  public void pollingStarted() {
                    polling.countDown();
                  }
                })
            .notifying(consumer)
            .build();
    this.thread = new Thread(engine, "escapement-relay-stream");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void completed(boolean success, @Nullable String message, @Nullable Throwable error) {
    String why = success ? "it ended" : reason(message, error);
    finished.countDown();
    polling.countDown();
    ended.accept(new RelayFailedException("the stream from PostgreSQL broke: " + why, error));
  }

  /** The innermost cause that has something to say is what PostgreSQL or the consumer said. */
  private static String reason(@Nullable String message, @Nullable Throwable error) {
    String said = message == null ? "no reason given" : message;
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null) {
        said = cause.getMessage();
      }
    }
    return said.lines().findFirst().orElse("").strip();
  }

  @Override
  public void close() {
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    long deadline = System.nanoTime() + closeTimeout.toNanos();
    // While its tasks start, the engine can't be closed without leaking what they open.
    await(polling, deadline);
    closeEngine();
    await(finished, deadline);
    if (finished.getCount() > 0) {
      LOG.warn("the stream does not end within {}; its threads are interrupted", closeTimeout);
      thread.interrupt();
    }
  }

  private void closeEngine() {
    try {
      engine.close();
    } catch (IllegalStateException e) {
      LOG.debug("the engine ends by itself", e);
    } catch (RejectedExecutionException e) {
      LOG.debug("the engine was closed in the middle of a batch", e);
    } catch (IOException e) {
      LOG.warn("the engine did not close cleanly", e);
    }
  }

  private static void await(CountDownLatch latch, long deadline) {
    try {
      if (!latch.await(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
        LOG.trace("the engine takes its time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
