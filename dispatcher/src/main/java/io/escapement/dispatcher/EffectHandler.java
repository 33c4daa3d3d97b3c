package io.escapement.dispatcher;

/**
 * A handler whose whole effect is the bytes that it answers with. They are committed together with
 * the task's completion, many tasks to a transaction: the cheapest way to be exactly once.
 */
public non-sealed interface EffectHandler extends TaskHandler {
  /**
   * Does the work.
   *
   * @return what came of it; an exception counts as failed
   */
  HandlerResult handle(Task task) throws Exception;
}
