package io.escapement.dispatcher.relay;

import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.escapement.ledger.OutboxEntry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/**
 * Carries transactions from the stream into the sink: skips what is there already, keeps each
 * database transaction within one Kafka transaction, and acknowledges after the commit, never
 * before.
 *
 * <p>Thread rule: {@link #handleBatch} on the engine's thread, the rest from any. Failure: an
 * exception ends the engine; what was not committed comes again.
 */
final class Forwarder implements DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> {

  private final TransactionAssembler assembler =
      new TransactionAssembler(StreamSettings.TRANSACTION_TOPIC, StreamSettings.OUTBOX_TOPIC);
  private final RelaySink sink;
  private final int transactionEvents;
  private final RelayCounters counters;
  private final Consumer<RuntimeException> failed;
  private final Runnable firstCheck;
  private final ReentrantLock sending = new ReentrantLock();

  private volatile RelayPosition position;
  private volatile boolean stopped;
  private boolean checked;
  private @Nullable OutboxTransaction appended;
  private int appendedRows;
  private int appendedEvents;

  /**
   * A forwarder for one run of the engine.
   *
   * @param position everything up to here is in the sink
   * @param failed told what went wrong, before the engine is
   * @param firstCheck run once the stream has begun and before anything is sent; throws if the
   *     stream can't be the right one
   */
  Forwarder(
      RelaySink sink,
      RelayPosition position,
      int transactionEvents,
      RelayCounters counters,
      Consumer<RuntimeException> failed,
      Runnable firstCheck) {
    this.sink = sink;
    this.position = position;
    this.transactionEvents = transactionEvents;
    this.counters = counters;
    this.failed = failed;
    this.firstCheck = firstCheck;
  }

  /** How far the sink has committed. */
  RelayPosition position() {
    return position;
  }

  /** Sends nothing more; a batch that is being sent is waited for. */
  void stop(Duration atMost) {
    stopped = true;
    try {
      if (sending.tryLock(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
        sending.unlock();
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
    sending.lock();
    try {
      if (stopped) {
        return;
      }
      RecordChangeEvent<SourceRecord> last = forward(records);
      if (last != null) {
        committer.markProcessed(last);
      }
      committer.markBatchFinished();
    } catch (RuntimeException e) {
      failed.accept(e);
      throw e;
    } finally {
      sending.unlock();
    }
  }

  /** Sends and commits; returns the record that ends the last whole transaction. */
  private @Nullable RecordChangeEvent<SourceRecord> forward(
      List<RecordChangeEvent<SourceRecord>> records) {
    if (!checked) {
      firstCheck.run();
      checked = true;
    }
    RecordChangeEvent<SourceRecord> last = null;
    for (RecordChangeEvent<SourceRecord> record : records) {
      Optional<OutboxTransaction> ended = assembler.add(record.record());
      if (ended.isPresent()) {
        take(ended.get());
        last = record;
      }
    }
    commit();
    return last;
  }

  private void take(OutboxTransaction transaction) {
    if (position.covers(transaction.commit())) {
      return;
    }
    for (OutboxEntry row : transaction.rows()) {
      appendedEvents += sink.append(row, false);
      appendedRows++;
    }
    appended = transaction;
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
    counters.relayed(appendedRows, appendedEvents);
    counters.at(reached);
    counters.healed();
    appended = null;
    appendedRows = 0;
    appendedEvents = 0;
  }
}
