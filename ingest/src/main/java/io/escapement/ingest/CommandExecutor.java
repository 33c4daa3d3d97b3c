package io.escapement.ingest;

import io.escapement.ledger.CommandAnswer;
import io.escapement.ledger.CommandRecord;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.PositionAdvance;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the ledger execute one record of the commands topic, whatever it contains and whoever else
 * moved its partition.
 *
 * <p>A record whose content the ledger can't even take, which should not happen after {@link
 * CommandReader}, is refused, so that it doesn't hold up the next. Thread rule: the consumer's
 * thread. Failure: {@link LedgerException}, and then every position must be read again.
 */
final class CommandExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(CommandExecutor.class);

  /** The payload limit may be changed in the ledger at any time; it is heeded within this. */
  private static final Duration SETTINGS_AGE = Duration.ofSeconds(10);

  /** A statement was ended by its time limit. */
  private static final String TOO_LONG = "57014";

  /** A command that is ended so often for its length would hold up all others for ever. */
  private static final int MAX_TOO_LONG = 3;

  private final Ledger ledger;
  private final Partitions partitions;
  private final CommandStats stats;
  private @Nullable CommandReader reader;
  private int timesTooLong;
  private long readerNanos;

  CommandExecutor(Ledger ledger, Partitions partitions, CommandStats stats) {
    this.ledger = ledger;
    this.partitions = partitions;
    this.stats = stats;
  }

  /**
   * Executes a share of one record, or of none.
   *
   * @return whether its position moved; not if it is not consumed (any more)
   */
  boolean execute(Share share) {
    Placement.At at = partitions.at(share.partition());
    if (at == null || !share.moves(at.row())) {
      return false;
    }
    PositionAdvance position = new PositionAdvance(at.key(), at.row(), share.next());
    CommandAnswer answer =
        share.records().isEmpty()
            ? ledger.command(new CommandRecord.Nothing(position))
            : execute(share.records().getFirst(), position);
    switch (answer) {
      case CommandAnswer.Decided decided -> {
        stats.decided(decided.decision());
        LOG.info(
            "{} at offset {}: {}{}",
            share.partition(),
            share.next() - 1,
            decided.decision().word(),
            decided.reason() == null ? "" : ", " + WireText.shorten(decided.reason()));
      }
      case CommandAnswer.Passed passed -> {}
      case CommandAnswer.Fenced fenced -> {
        LOG.warn("another owner has moved {}: dropping what was read of it", share.partition());
        stats.fenced();
        partitions.forget(List.of(share.partition()));
        return false;
      }
    }
    partitions.advance(share.partition(), share.next());
    return true;
  }

  private CommandAnswer execute(ConsumerRecord<byte[], byte[]> record, PositionAdvance position) {
    try {
      CommandAnswer answer = ledger.command(reader().read(record, position));
      timesTooLong = 0;
      return answer;
    } catch (LedgerException e) {
      if (e.blamesContent()) {
        return refuse(
            record,
            position,
            e,
            "record: the ledger can't store it (SQLSTATE " + e.sqlState() + ")");
      }
      timesTooLong = TOO_LONG.equals(e.sqlState()) ? timesTooLong + 1 : 0;
      if (timesTooLong < MAX_TOO_LONG) {
        throw e;
      }
      timesTooLong = 0;
      return refuse(
          record,
          position,
          e,
          "command: it took longer than a statement may, "
              + MAX_TOO_LONG
              + " times; ask for less at once");
    }
  }

  /** Refuses a record that can't be executed, with its bytes if at least they can. */
  private CommandAnswer refuse(
      ConsumerRecord<byte[], byte[]> record,
      PositionAdvance position,
      LedgerException failure,
      String reason) {
    LOG.error(
        "{}-{} at offset {} can't be executed and is refused: {}",
        record.topic(),
        record.partition(),
        record.offset(),
        WireText.oneLine(failure));
    try {
      return ledger.command(CommandReader.refuse(record, position, reason));
    } catch (LedgerException e) {
      if (!e.blamesContent()) {
        throw e;
      }
      return ledger.command(CommandReader.withhold(record, position, reason));
    }
  }

  private CommandReader reader() {
    long now = System.nanoTime();
    CommandReader current = reader;
    if (current == null || now - readerNanos > SETTINGS_AGE.toNanos()) {
      current = new CommandReader(ledger.settings().maxPayloadBytes());
      reader = current;
      readerNanos = now;
    }
    return current;
  }
}
