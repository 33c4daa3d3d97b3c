package io.escapement.wheel.bench;

import io.escapement.wheel.TimerHandler;
import io.escapement.wheel.TimerWheel;
import io.escapement.wheel.WheelGeometry;

/** Ours, with the default slots and levels. */
final class EscapementContender extends Contender {
  private static final WheelGeometry GEOMETRY =
      new WheelGeometry(
          TICK_NANOS, WheelGeometry.DEFAULT.slotsPerLevel(), WheelGeometry.DEFAULT.levels());

  private final TimerWheel wheel = new TimerWheel(GEOMETRY, TimerWheel.MAX_TIMERS, 0);
  private final TimerHandler handler = (payload, dueNanos, handle) -> checksum += payload;
  private final long[] handles;

  EscapementContender(int places) {
    handles = new long[places];
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    handles[place] = wheel.schedule(deadlineNanos, place);
  }

  @Override
  void cancel(int place) {
    wheel.cancel(handles[place]);
  }

  @Override
  int advance(long nowNanos) {
    return wheel.advance(nowNanos, Integer.MAX_VALUE, handler);
  }

  @Override
  long nextExpiryNanos() {
    return wheel.nextExpiryLowerBound();
  }

  @Override
  long size() {
    return wheel.size();
  }

  @Override
  Object handles() {
    return handles;
  }
}
