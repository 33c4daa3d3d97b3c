package io.escapement.ingest;

import io.escapement.ledger.CommandAnswer;
import io.escapement.ledger.CommandRecord;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.PositionAdvance;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the ledger execute commands, each in a transaction of its own.
 *
 * <p>A command whose <em>content</em> the ledger can't store, which should not happen after {@link
 * CommandReader}, is refused, and so is one that is ended again and again because it takes longer
 * than a statement may: neither may hold up those behind it. Thread rule: that of {@link Decider}.
 */
final class CommandDecider implements Decider {

  private static final Logger LOG = LoggerFactory.getLogger(CommandDecider.class);

  /** A statement was ended by its time limit. */
  private static final String TOO_LONG = "57014";

  /** A command that is ended so often for its length would hold up all others for ever. */
  private static final int MAX_TOO_LONG = 3;

  private final Ledger ledger;
  private final IngestStats stats;
  private @Nullable CommandReader reader;
  private int timesTooLong;

  CommandDecider(Ledger ledger, IngestStats stats) {
    this.ledger = ledger;
    this.stats = stats;
  }

  @Override
  public void heed(int maxPayloadBytes) {
    reader = new CommandReader(maxPayloadBytes);
  }

  @Override
  public Callable<Verdict> prepare(List<PositionedShare> shares) {
    CommandReader current = Objects.requireNonNull(reader, "the limits are not known");
    return () -> execute(shares, current);
  }

  private Verdict execute(List<PositionedShare> shares, CommandReader current) {
    List<Verdict.Settled> settled = new ArrayList<>();
    List<PositionedShare> fenced = new ArrayList<>();
    for (PositionedShare share : shares) {
      List<ConsumerRecord<byte[], byte[]>> records = share.share().records();
      if (records.size() > 1) {
        throw new IllegalArgumentException("commands are executed one by one");
      }
      CommandAnswer answer =
          records.isEmpty()
              ? ledger.command(new CommandRecord.Nothing(share.advance()))
              : execute(records.getFirst(), share.advance(), current);
      if (answer instanceof CommandAnswer.Fenced) {
        fenced.add(share);
      } else {
        settled.add(new Verdict.Settled(share, records.size(), share.share().next(), null));
      }
      if (answer instanceof CommandAnswer.Decided decided) {
        timesTooLong = 0;
        stats.decided(decided.decision().word());
        stats.batch();
        LOG.info(
            "{} at offset {}: {}{}",
            share.partition(),
            records.getFirst().offset(),
            decided.decision().word(),
            decided.reason() == null ? "" : ", " + WireText.shorten(decided.reason()));
      }
    }
    return new Verdict(settled, fenced);
  }

  private CommandAnswer execute(
      ConsumerRecord<byte[], byte[]> record, PositionAdvance position, CommandReader current) {
    try {
      return ledger.command(current.read(record, position));
    } catch (LedgerException e) {
      if (e.blamesContent()) {
        String reason = "record: the ledger can't store it (SQLSTATE " + e.sqlState() + ")";
        return refuse(record, position, e, reason);
      }
      timesTooLong = TOO_LONG.equals(e.sqlState()) ? timesTooLong + 1 : 0;
      if (timesTooLong < MAX_TOO_LONG) {
        throw e;
      }
      String reason =
          "command: it took longer than a statement may, "
              + MAX_TOO_LONG
              + " times; ask for less at once";
      return refuse(record, position, e, reason);
    }
  }

  /** Refuses a record that can't be executed, with its bytes if at least they can be stored. */
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
}
