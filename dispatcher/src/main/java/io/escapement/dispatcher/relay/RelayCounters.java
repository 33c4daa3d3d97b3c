package io.escapement.dispatcher.relay;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What a relay has done and how it is, over all its terms. Thread rule: any thread. */
final class RelayCounters {

  private final AtomicLong terms = new AtomicLong();
  private final AtomicLong commits = new AtomicLong();
  private final AtomicLong rows = new AtomicLong();
  private final AtomicLong events = new AtomicLong();
  private volatile RelayHealth.Role role = RelayHealth.Role.STOPPED;
  private volatile long lagBytes;
  private volatile Duration lag = Duration.ZERO;
  private volatile long retainedBytes;
  private volatile @Nullable RelayPosition position;
  private volatile @Nullable Failure failure;

  private record Failure(String message, Instant at) {}

  void become(RelayHealth.Role other) {
    if (other == RelayHealth.Role.LEADER) {
      terms.incrementAndGet();
    }
    role = other;
  }

  void relayed(long moreRows, long moreEvents) {
    commits.incrementAndGet();
    rows.addAndGet(moreRows);
    events.addAndGet(moreEvents);
  }

  /** How many Kafka transactions were committed, heartbeats included. */
  long commits() {
    return commits.get();
  }

  void at(RelayPosition reached) {
    position = reached;
  }

  void lag(long bytes, Duration behind, long retained) {
    lag = behind;
    lagBytes = Math.max(0, bytes);
    retainedBytes = Math.max(0, retained);
  }

  void failed(String message) {
    failure = new Failure(message, Instant.now());
  }

  /** All of the way works, or nothing is to be done. */
  void healed() {
    failure = null;
  }

  RelayHealth health() {
    RelayPosition reached = position;
    Failure last = failure;
    boolean leads = role == RelayHealth.Role.LEADER;
    return new RelayHealth(
        role,
        terms.get(),
        commits.get(),
        rows.get(),
        events.get(),
        leads ? lagBytes : 0,
        leads ? lag : Duration.ZERO,
        leads ? retainedBytes : 0,
        reached == null ? null : reached.toString(),
        last == null ? null : last.message(),
        last == null ? null : last.at());
  }
}
