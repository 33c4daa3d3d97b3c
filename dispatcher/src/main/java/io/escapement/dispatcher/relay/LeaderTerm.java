package io.escapement.dispatcher.relay;

import io.escapement.ledger.OutboxEntry;
import io.escapement.ledger.OutboxSnapshot;
import io.escapement.ledger.RelaySession;
import io.escapement.ledger.ServerIdentity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One leadership, from the lock to whatever ends it. The order is what makes it exact:
 *
 * <ol>
 *   <li>fence every other relay in Kafka, and only then read the position;
 *   <li>compare the slot with it; if something is missing from the slot, create it and send what
 *       the table holds, position included;
 *   <li>stream, skipping what the position covers; each batch and its position are one Kafka
 *       transaction; acknowledge after it.
 * </ol>
 *
 * <p>Thread rule: {@link #run} on one thread, {@link #stop} from any. Failure: any exception ends
 * the term; nothing is lost by it, and nothing that was committed is sent again.
 */
final class LeaderTerm {

  private static final Logger LOG = LoggerFactory.getLogger(LeaderTerm.class);
  private static final int PAGE_ROWS = 200;

  /** Makes sinks. */
  interface Sinks {
    RelaySink open(UUID ledgerId, Duration transactionTimeout);
  }

  private final RelayConfig config;
  private final RelaySession session;
  private final Sinks sinks;
  private final RelayCounters counters;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile @Nullable SlotWatch watch;

  LeaderTerm(RelayConfig config, RelaySession session, Sinks sinks, RelayCounters counters) {
    this.config = config;
    this.session = session;
    this.sinks = sinks;
    this.counters = counters;
  }

  /** Leads until it fails or is stopped. */
  void run() {
    ScheduledExecutorService watcher =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "escapement-relay-watch");
              thread.setDaemon(true);
              return thread;
            });
    long intervalNanos = config.tuning().watchInterval().toNanos();
    var unused = watcher.scheduleWithFixedDelay(this::look, 0, intervalNanos, TimeUnit.NANOSECONDS);
    try {
      lead(session.ledgerId(), session.identity());
    } finally {
      watcher.shutdownNow();
    }
  }

  private void lead(UUID ledgerId, ServerIdentity server) {
    new TopicCheck(config).require();
    new TopicCheck(config).requireRoom(session.maxPayloadBytes());
    RelaySink sink = sinks.open(ledgerId, config.tuning().transactionTimeout());
    try {
      if (sink.position().isEmpty()) {
        sink.close();
        LOG.info(
            "nothing was relayed yet: the slot '{}' is created, which waits for transactions that"
                + " are writing",
            config.slot());
        // A slot without a position: something was relayed once, and where to is gone.
        boolean again = session.slot().isPresent();
        // All that the table holds goes into one transaction, so that a crash in the middle of it
        // leaves nothing behind that would be sent twice. That may take long.
        try (RelaySink first = sinks.open(ledgerId, config.tuning().firstTimeout())) {
          createSlot(first, server, again);
        }
        sink = sinks.open(ledgerId, config.tuning().transactionTimeout());
      }
      stream(sink, start(sink, server));
    } finally {
      sink.close();
    }
  }

  /** Ends the term; {@link #run} returns soon. */
  void stop() {
    if (end.complete(null) && watch == null) {
      // Not streaming yet: it may be waiting for PostgreSQL to create the slot.
      session.close();
    }
  }

  private void look() {
    try {
      SlotWatch streaming = watch;
      if (streaming == null) {
        session.slot();
      } else {
        streaming.runOnce();
      }
    } catch (RuntimeException e) {
      if (end.completeExceptionally(e)) {
        LOG.debug("the watch ends the term", e);
        // Whoever waits for PostgreSQL on behalf of this session need not wait any longer.
        session.close();
      }
    }
  }

  /** Sees to it that the slot holds everything that is not yet relayed. */
  private RelayPosition start(RelaySink sink, ServerIdentity server) {
    RelayPosition position =
        sink.position()
            .orElseThrow(() -> new RelayFailedException("the relay's position has disappeared"));
    Optional<String> lost = SlotCare.lost(session.slot(), position, server);
    if (lost.isEmpty()) {
      session.evict();
      counters.at(position);
      return position;
    }
    LOG.warn(
        "the replication slot '{}' is lost ({}): it is created again, and what the outbox still"
            + " holds is sent again, marked as repeated",
        config.slot(),
        lost.get());
    return createSlot(sink, server, true);
  }

  private RelayPosition createSlot(RelaySink sink, ServerIdentity server, boolean repeated) {
    session.evict();
    try (OutboxSnapshot snapshot = session.createSlot()) {
      long rows = 0;
      long events = 0;
      int uncommitted = 0;
      List<OutboxEntry> page = snapshot.next(PAGE_ROWS);
      while (!page.isEmpty()) {
        for (OutboxEntry row : page) {
          uncommitted += sink.append(row, repeated);
        }
        if (repeated && uncommitted >= config.tuning().transactionEvents()) {
          sink.commit();
          events += uncommitted;
          uncommitted = 0;
        }
        if (end.isDone()) {
          throw new RelayFailedException("the term ended while the outbox was sent");
        }
        rows += page.size();
        page = snapshot.next(PAGE_ROWS);
      }
      if (repeated) {
        // What was lost with the slot, or with a server that never had it, can't be told by hints.
        session.queues().forEach(sink::appendReload);
      }
      RelayPosition start = new RelayPosition(server, snapshot.consistentPoint(), 0);
      sink.commit(start);
      counters.relayed(rows, events + uncommitted);
      counters.at(start);
      LOG.info("the slot '{}' begins at {}; {} rows were sent", config.slot(), start.lsn(), rows);
      return start;
    }
  }

  private void stream(RelaySink sink, RelayPosition start) {
    Forwarder forwarder =
        new Forwarder(
            sink,
            start,
            config.tuning(),
            counters,
            end::completeExceptionally,
            () -> SlotWatch.requireWhole(config, session.slot(), start));
    try (OutboxStream stream =
        new OutboxStream(
            StreamSettings.of(config),
            config.tuning().closeTimeout(),
            forwarder,
            forwarder::acknowledge,
            end::completeExceptionally)) {
      watch = new SlotWatch(config, session, counters, forwarder::position);
      if (!end.isDone()) {
        forwarder.start();
        stream.start();
      }
      LOG.info("relaying from {}", start.lsn());
      try {
        end.join();
      } finally {
        watch = null;
        forwarder.stop(config.tuning().closeTimeout());
      }
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
