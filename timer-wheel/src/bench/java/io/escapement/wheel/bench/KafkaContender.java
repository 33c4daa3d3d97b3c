package io.escapement.wheel.bench;

import org.apache.kafka.server.util.timer.KafkaWheelDriver;
import org.apache.kafka.server.util.timer.TimerTask;

/**
 * Kafka's hierarchical wheel; a millisecond of it is a tick of ours. Wheels of 256 suit it better
 * than its default of 20.
 */
final class KafkaContender extends Contender {
  private final KafkaWheelDriver wheel = new KafkaWheelDriver(256);
  private final TimerTask[] tasks;

  KafkaContender(int places) {
    tasks = new TimerTask[places];
  }

  private final class Timer extends TimerTask {
    private final long payload;

    Timer(long payload) {
      super(0);
      this.payload = payload;
    }

    @Override
    public void run() {
      checksum += payload;
    }
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    Timer timer = new Timer(place);
    tasks[place] = timer;
    wheel.add(timer, (deadlineNanos + TICK_NANOS - 1) / TICK_NANOS);
  }

  @Override
  void cancel(int place) {
    tasks[place].cancel();
  }

  @Override
  int advance(long nowNanos) {
    return wheel.advanceClock(nowNanos / TICK_NANOS);
  }

  @Override
  long nextExpiryNanos() {
    return wheel.nextExpirationMs() * TICK_NANOS;
  }

  @Override
  long size() {
    return wheel.size();
  }

  @Override
  Object handles() {
    return tasks;
  }
}
