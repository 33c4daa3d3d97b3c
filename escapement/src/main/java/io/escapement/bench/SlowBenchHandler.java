package io.escapement.bench;

import io.escapement.dispatcher.EffectHandler;
import io.escapement.dispatcher.HandlerResult;
import io.escapement.dispatcher.Task;

/**
 * Does nothing, and takes its time over it: as many milliseconds as the task's value has bytes. So
 * a backlog lasts as long as it is wanted to.
 */
public final class SlowBenchHandler implements EffectHandler {

  static final String KIND = "escapement.bench.slow";

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public HandlerResult handle(Task task) throws InterruptedException {
    Thread.sleep(task.value().length);
    return HandlerResult.done(BenchHandler.EFFECT);
  }
}
