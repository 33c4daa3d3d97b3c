package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerException;
import io.escapement.ledger.LedgerUnavailableException;
import io.escapement.ledger.RelaySession;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts what the ledger has committed into Kafka: every outbox event, in commit order, once for
 * those who read committed records, as long as the replication slot lives. If the slot is lost, the
 * rows that are still in the table are sent again, marked as repeated, and none is lost.
 *
 * <p>Any number of relays may run; one leads, the others stand by and take over within seconds.
 *
 * <p>Cost: about three transactions' worth of reading per database transaction, one Kafka
 * transaction a batch, two statements a second. Ordering: events of a key in commit order. Thread
 * rule: any thread; the work is done on threads of its own. Failure: survives any single failure,
 * says so in {@link #health}, and tries again after a pause that grows; it never skips.
 */
public final class Relay implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Relay.class);

  private final RelayConfig config;
  private final LeaderTerm.Sinks sinks;
  private final RelayCounters counters = new RelayCounters();
  private final CountDownLatch closing = new CountDownLatch(1);
  private final RelayBean bean;
  private final Thread thread;
  private volatile @Nullable LeaderTerm term;
  private volatile @Nullable RelaySession session;

  public Relay(RelayConfig config) {
    this(
        config,
        (ledgerId, transactionTimeout) -> KafkaSink.open(config, ledgerId, transactionTimeout));
  }

  Relay(RelayConfig config, LeaderTerm.Sinks sinks) {
    this.config = config;
    this.sinks = sinks;
    this.bean = new RelayBean(config.slot(), counters::health);
    this.thread = new Thread(this::work, "escapement-relay");
  }

  /**
   * Checks that database and Kafka can be used as configured, and starts.
   *
   * @throws RelayFailedException with one line that names the setting and the cure
   */
  public void start() {
    LOG.info("{}", config);
    int payloadBytes;
    try (RelaySession probe = openSession()) {
      probe.identity();
      probe.slot();
      payloadBytes = probe.maxPayloadBytes();
    } catch (LedgerUnavailableException | LedgerException e) {
      throw new RelayFailedException(line(e), e);
    }
    new TopicCheck(config).require();
    new TopicCheck(config).requireRoom(payloadBytes);
    counters.become(RelayHealth.Role.STANDBY);
    bean.register();
    thread.start();
  }

  /** How it is doing. */
  public RelayHealth health() {
    return counters.health();
  }

  /** Stops relaying; what is being sent is finished if that does not take long. */
  @Override
  public void close() {
    closing.countDown();
    LeaderTerm current = term;
    if (current != null) {
      current.stop();
    }
    if (!join(config.tuning().closeTimeout())) {
      // It waits for PostgreSQL or Kafka; neither must keep the process from ending.
      closeSession();
      thread.interrupt();
      if (!join(config.tuning().closeTimeout())) {
        LOG.warn("the relay does not end within {}", config.tuning().closeTimeout());
      }
    }
    counters.become(RelayHealth.Role.STOPPED);
    bean.close();
  }

  private boolean join(Duration atMost) {
    if (thread.getState() == Thread.State.NEW) {
      return true;
    }
    try {
      return thread.join(atMost);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void work() {
    Duration backoff = config.tuning().minBackoff();
    while (closing.getCount() > 0) {
      long before = counters.commits();
      try {
        runTerm();
      } catch (RuntimeException | Error e) {
        if (closing.getCount() == 0) {
          LOG.debug("closed in the middle", e);
          return;
        }
        if (counters.commits() > before) {
          backoff = config.tuning().minBackoff();
        }
        counters.failed(line(e));
        LOG.warn("{}; next try in {} ms", line(e), backoff.toMillis());
        LOG.debug("the failure", e);
      } finally {
        counters.become(RelayHealth.Role.STANDBY);
      }
      pause(backoff);
      Duration doubled = backoff.multipliedBy(2);
      Duration most = config.tuning().maxBackoff();
      backoff = doubled.compareTo(most) < 0 ? doubled : most;
    }
  }

  /** Waits for leadership and leads. */
  private void runTerm() {
    try (RelaySession opened = openSession()) {
      session = opened;
      boolean told = false;
      while (!opened.tryLead()) {
        if (!told) {
          LOG.info("stands by for slot '{}'", config.slot());
          counters.healed();
          told = true;
        }
        if (pause(config.tuning().watchInterval())) {
          return;
        }
      }
      LeaderTerm next = new LeaderTerm(config, opened, sinks, counters);
      term = next;
      if (closing.getCount() > 0) {
        counters.become(RelayHealth.Role.LEADER);
        LOG.info("leads slot '{}'", config.slot());
        next.run();
      }
    } finally {
      term = null;
      session = null;
    }
  }

  private RelaySession openSession() {
    return RelaySession.open(config.ledger(), config.slot(), config.tuning().silenceLimit());
  }

  private void closeSession() {
    RelaySession open = session;
    if (open != null) {
      open.close();
    }
  }

  /** Whether the relay is being closed. */
  private boolean pause(Duration duration) {
    try {
      return closing.await(duration.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private static String line(Throwable e) {
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    return message.lines().findFirst().orElse("").strip();
  }
}
