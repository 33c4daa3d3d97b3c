package io.escapement.wheel.bench;

import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;

/**
 * Agrona's wheel, one tick for each of the horizon, which suits it best. It keeps no payload and
 * its ids are not generation-checked: this contender does less than the others.
 */
class AgronaContender extends Contender {
  private final DeadlineTimerWheel wheel =
      new DeadlineTimerWheel(TimeUnit.NANOSECONDS, 0, TICK_NANOS, HORIZON_TICKS, 2);
  private final DeadlineTimerWheel.TimerHandler handler = this::fired;
  final long[] handles;

  AgronaContender(int places) {
    handles = new long[places];
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    handles[place] = wheel.scheduleTimer(deadlineNanos);
  }

  @Override
  void cancel(int place) {
    wheel.cancelTimer(handles[place]);
  }

  @Override
  int advance(long nowNanos) {
    int fired = 0;
    do {
      fired += wheel.poll(nowNanos, handler, Integer.MAX_VALUE);
    } while (wheel.currentTickTime() <= nowNanos);
    return fired;
  }

  @Override
  long size() {
    return wheel.timerCount();
  }

  boolean fired(TimeUnit unit, long now, long timerId) {
    checksum += timerId;
    return true;
  }

  @Override
  Object handles() {
    return handles;
  }
}
