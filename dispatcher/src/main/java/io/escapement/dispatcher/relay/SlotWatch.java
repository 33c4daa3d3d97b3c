package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Lsn;
import io.escapement.ledger.RelaySession;
import io.escapement.ledger.SlotState;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the leader does beside the stream, every watch interval: looks whether the slot is still
 * whole, moves it on past what others write, prunes. Its statements also keep the session alive.
 *
 * <p>Thread rule: one thread. Failure: {@link RelayFailedException} if the slot is lost.
 */
final class SlotWatch {

  /** PostgreSQL's class of errors of the connection. */
  private static final String CONNECTION_LOST = "08";

  private static final Logger LOG = LoggerFactory.getLogger(SlotWatch.class);

  private final RelayConfig config;
  private final RelaySession session;
  private final RelayCounters counters;
  private final Supplier<RelayPosition> position;
  private final Pruner pruner;
  private @Nullable Lsn lastHeartbeat;

  SlotWatch(
      RelayConfig config,
      RelaySession session,
      RelayCounters counters,
      Supplier<RelayPosition> position) {
    this.config = config;
    this.session = session;
    this.counters = counters;
    this.position = position;
    this.pruner = new Pruner(session, config.tuning().pruneGrace(), config.tuning().pruneRows());
  }

  /** One look. */
  void runOnce() {
    Optional<SlotState> slot = session.slot();
    RelayPosition relayed = position.get();
    requireWhole(config, slot, relayed);
    slot.ifPresent(
        state -> counters.lag(state.written().bytesSince(relayed.lsn()), state.retainedBytes()));
    prune(relayed.lsn());
    if (slot.isPresent() && wantsHeartbeat(slot.get(), relayed)) {
      lastHeartbeat = session.heartbeat();
    }
  }

  /** Rows that stay too long are no reason to stop relaying. */
  private void prune(Lsn relayed) {
    try {
      pruner.runOnce(relayed);
    } catch (LedgerException e) {
      if (String.valueOf(e.sqlState()).startsWith(CONNECTION_LOST)) {
        // Not about the rows: the term is over.
        throw e;
      }
      LOG.warn("relayed rows stay in the outbox for now: {}", e.getMessage());
    }
  }

  private boolean wantsHeartbeat(SlotState slot, RelayPosition relayed) {
    if (lastHeartbeat == null) {
      // A term begins with one: it shows at once whether all of the way works.
      return true;
    }
    // One that has not come back yet says that the stream is behind; more would not help.
    boolean underWay = lastHeartbeat.compareTo(relayed.lsn()) > 0;
    long unread = slot.written().bytesSince(relayed.lsn());
    return !underWay && (pruner.needsProgress() || unread > config.tuning().heartbeatBytes());
  }

  /** Refuses to go on with a slot that does not hold everything that is not yet relayed. */
  static void requireWhole(RelayConfig config, Optional<SlotState> slot, RelayPosition relayed) {
    Optional<String> lost = SlotCare.lost(slot, relayed);
    if (lost.isPresent()) {
      throw new RelayFailedException(
          "the replication slot '" + config.slot() + "' is lost: " + lost.get());
    }
  }
}
