package io.escapement.demo;

import io.escapement.dispatcher.EffectHandler;
import io.escapement.dispatcher.HandlerResult;
import io.escapement.dispatcher.Task;
import java.nio.charset.StandardCharsets;

/**
 * Answers with bytes, and fails the first attempt at every tenth event: what an unreliable helper
 * looks like from here. The second attempt is another claim, with a greater number.
 */
public final class ReminderHandler implements EffectHandler {

  static final String KIND = "demo.reminder.send";

  private static final int FAILS_ONE_IN = 10;

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public HandlerResult handle(Task task) {
    if (task.attempt() == 1 && Math.floorMod(task.eventId().hashCode(), FAILS_ONE_IN) == 0) {
      return HandlerResult.failed("the demo fails this first attempt on purpose");
    }
    String reminded = "reminded " + task.subject() + " of " + task.eventId();
    return HandlerResult.done(reminded.getBytes(StandardCharsets.UTF_8));
  }
}
