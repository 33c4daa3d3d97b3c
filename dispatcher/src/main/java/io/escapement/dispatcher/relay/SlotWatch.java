package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Lsn;
import io.escapement.ledger.RelaySession;
import io.escapement.ledger.SlotState;
import java.time.Duration;
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

  /** Beyond so much kept log the server is asked for a point up to which it can let go. */
  private static final long SNAPSHOT_BYTES = 16L << 20;

  /** PostgreSQL's class of errors of the connection. */
  private static final String CONNECTION_LOST = "08";

  /**
   * So often, where something is written at all, a heartbeat shows how far behind the stream is.
   */
  private static final Duration PROBE_INTERVAL = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(SlotWatch.class);

  private final RelayConfig config;
  private final RelaySession session;
  private final RelayCounters counters;
  private final Supplier<RelayPosition> position;
  private final Pruner pruner;
  private @Nullable Lsn lastHeartbeat;
  private long lastHeartbeatNanos;

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
        state ->
            counters.lag(
                state.written().bytesSince(relayed.lsn()), lag(relayed), state.retainedBytes()));
    prune(relayed.lsn());
    if (slot.isPresent() && wantsHeartbeat(slot.get(), relayed)) {
      if (slot.get().retainedBytes() > SNAPSHOT_BYTES) {
        session.logSnapshot();
      }
      lastHeartbeat = session.heartbeat();
      lastHeartbeatNanos = System.nanoTime();
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
    if (underWay(relayed)) {
      return false;
    }
    long unread = slot.written().bytesSince(relayed.lsn());
    boolean due = System.nanoTime() - lastHeartbeatNanos > PROBE_INTERVAL.toNanos();
    return pruner.needsProgress()
        || unread > config.tuning().heartbeatBytes()
        || (due && unread > 0);
  }

  private boolean underWay(RelayPosition relayed) {
    return lastHeartbeat != null && lastHeartbeat.compareTo(relayed.lsn()) > 0;
  }

  /**
   * Commits are relayed in their order: what waits longer than the heartbeat would be before it.
   */
  private Duration lag(RelayPosition relayed) {
    return underWay(relayed)
        ? Duration.ofNanos(System.nanoTime() - lastHeartbeatNanos)
        : Duration.ZERO;
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
