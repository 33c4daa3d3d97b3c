package io.escapement.wheel;

/**
 * Told of timers, by {@link TimerWheel#advance} when they are due and by {@link TimerWheel#forEach}
 * as they wait.
 */
@FunctionalInterface
public interface TimerHandler {
  /**
   * Called once for a timer, on the thread that owns the wheel.
   *
   * @param payload what the timer was scheduled with
   * @param dueNanos the timer's deadline rounded up to a tick; for one that was already due when it
   *     was scheduled, the tick at which the wheel stood then
   * @param handle the timer's handle; when the timer fires it is no longer good
   */
  void onTimer(long payload, long dueNanos, long handle);
}
