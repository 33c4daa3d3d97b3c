package io.escapement.dispatcher.relay;

import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.escapement.ledger.OutboxEntry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/**
 * Carries transactions from the stream into the sink: skips what is there already, keeps each
 * database transaction within one Kafka transaction, and acknowledges after the commit, never
 * before.
 *
 * <p>The stream's thread only gathers; a thread of its own sends. So whatever was committed in the
 * database while Kafka committed goes into the next Kafka transaction together, and a transaction
 * that comes alone waits for nothing.
 *
 * <p>Thread rule: {@link #handleBatch} and {@link #acknowledge} on the engine's thread, the rest
 * from any. Failure: told at once, and thrown to the engine with its next batch; what was not
 * committed comes again.
 */
final class Forwarder implements DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> {

  /** An acknowledgement is a message to the server; Kafka's position is exact without it. */
  private static final long ACKNOWLEDGE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /**
   * So long after a commit the next Kafka transaction begins. The broker is still writing the
   * markers of the last one then, and has whoever begins before they are written wait for 20 ms
   * (its {@code add.partitions.to.txn.retry.backoff.ms}).
   */
  private static final long MARKERS_NANOS = TimeUnit.MICROSECONDS.toNanos(2_000);

  private final TransactionAssembler assembler =
      new TransactionAssembler(StreamSettings.TRANSACTION_TOPIC, StreamSettings.OUTBOX_TOPIC);
  private final RelaySink sink;
  private final int transactionEvents;
  private final RelayCounters counters;
  private final Consumer<RuntimeException> failed;
  private final Runnable firstCheck;
  private final Backlog backlog;
  private final Thread sender;
  private final AtomicReference<@Nullable RecordChangeEvent<SourceRecord>> committed =
      new AtomicReference<>();
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();

  private volatile RelayPosition position;
  private volatile boolean stopped;

  private boolean checked;
  private long nextAcknowledgeNanos = System.nanoTime();
  private DebeziumEngine.@Nullable RecordCommitter<RecordChangeEvent<SourceRecord>> acknowledger;

  private @Nullable OutboxTransaction appended;
  private @Nullable RecordChangeEvent<SourceRecord> appendedLast;
  private int appendedRows;
  private int appendedEvents;

  /**
   * A forwarder for one run of the engine.
   *
   * @param position everything up to here is in the sink
   * @param tuning how much goes into one transaction, and how much may wait
   * @param failed told what went wrong, before the engine is
   * @param firstCheck run once the stream has begun and before anything is sent; throws if the
   *     stream can't be the right one
   */
  Forwarder(
      RelaySink sink,
      RelayPosition position,
      RelayTuning tuning,
      RelayCounters counters,
      Consumer<RuntimeException> failed,
      Runnable firstCheck) {
    this.sink = sink;
    this.position = position;
    this.transactionEvents = tuning.transactionEvents();
    this.backlog = new Backlog(tuning.queueBytes());
    this.counters = counters;
    this.failed = failed;
    this.firstCheck = firstCheck;
    this.sender = new Thread(this::send, "escapement-relay-send");
    sender.setDaemon(true);
  }

  /** Begins to send what comes. */
  void start() {
    sender.start();
  }

  /** How far the sink has committed. */
  RelayPosition position() {
    return position;
  }

  /** Sends nothing more; what is being sent is waited for. */
  void stop(Duration atMost) {
    stopped = true;
    backlog.close();
    if (sender.getState() == Thread.State.NEW) {
      return;
    }
    try {
      if (!sender.join(atMost)) {
        sender.interrupt();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void handleBatch(
      List<RecordChangeEvent<SourceRecord>> records,
      DebeziumEngine.RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
      throws InterruptedException {
    try {
      RuntimeException broken = failure.get();
      if (broken != null) {
        throw broken;
      }
      acknowledger = committer;
      gather(records);
    } catch (RuntimeException e) {
      fail(e);
      throw e;
    }
    committer.markBatchFinished();
  }

  private void gather(List<RecordChangeEvent<SourceRecord>> records) throws InterruptedException {
    if (!checked) {
      firstCheck.run();
      checked = true;
    }
    for (RecordChangeEvent<SourceRecord> record : records) {
      Optional<OutboxTransaction> ended = assembler.add(record.record());
      if (ended.isPresent() && !backlog.put(new Backlog.Waiting(ended.get(), record))) {
        return;
      }
    }
  }

  /**
   * Tells the engine what is committed; it tells the server. The engine asks after every look at
   * the stream, so an idle outbox is acknowledged too.
   *
   * @return whether there was something to tell
   */
  boolean acknowledge() {
    var to = acknowledger;
    if (to == null || System.nanoTime() - nextAcknowledgeNanos < 0) {
      return false;
    }
    RecordChangeEvent<SourceRecord> last = committed.getAndSet(null);
    if (last == null) {
      return false;
    }
    nextAcknowledgeNanos = System.nanoTime() + ACKNOWLEDGE_NANOS;
    try {
      to.markProcessed(last);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void send() {
    try {
      List<Backlog.Waiting> waiting = backlog.take();
      while (!waiting.isEmpty() && !stopped) {
        for (Backlog.Waiting one : waiting) {
          take(one);
        }
        commit();
        LockSupport.parkNanos(MARKERS_NANOS);
        waiting = backlog.take();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private void fail(RuntimeException e) {
    if (failure.compareAndSet(null, e)) {
      backlog.close();
      failed.accept(e);
    }
  }

  private void take(Backlog.Waiting one) {
    OutboxTransaction transaction = one.transaction();
    if (position.covers(transaction.commit())) {
      return;
    }
    for (OutboxEntry row : transaction.rows()) {
      appendedEvents += sink.append(row, false);
      appendedRows++;
    }
    appended = transaction;
    appendedLast = one.last();
    if (appendedEvents >= transactionEvents) {
      commit();
    }
  }

  private void commit() {
    OutboxTransaction last = appended;
    if (last == null) {
      return;
    }
    RelayPosition reached = position.at(last.commit(), last.rows().size());
    sink.commit(reached);
    position = reached;
    committed.set(appendedLast);
    counters.relayed(appendedRows, appendedEvents);
    counters.at(reached);
    counters.healed();
    appended = null;
    appendedLast = null;
    appendedRows = 0;
    appendedEvents = 0;
  }
}
