package io.escapement.bench;

import io.escapement.dispatcher.EffectHandler;
import io.escapement.dispatcher.HandlerResult;
import io.escapement.dispatcher.Task;

/** Does nothing, so that what is measured is everything around a handler. */
public final class BenchHandler implements EffectHandler {

  static final String KIND = "escapement.bench";

  static final byte[] EFFECT = {1};

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public HandlerResult handle(Task task) {
    return HandlerResult.done(EFFECT);
  }
}
