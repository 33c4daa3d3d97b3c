package io.escapement.demo;

import io.escapement.dispatcher.EffectHandler;
import io.escapement.dispatcher.HandlerResult;
import io.escapement.dispatcher.Task;

/** Answers with what the event carried: the plainest effect, committed with many others at once. */
public final class InvoiceHandler implements EffectHandler {

  static final String KIND = "demo.invoice.issue";

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public HandlerResult handle(Task task) {
    return HandlerResult.done(task.data());
  }
}
