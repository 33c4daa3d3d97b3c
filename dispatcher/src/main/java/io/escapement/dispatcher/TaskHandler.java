package io.escapement.dispatcher;

/**
 * Does the work of one kind. Found by {@link java.util.ServiceLoader}: name the class in {@code
 * META-INF/services/io.escapement.dispatcher.TaskHandler} of a jar on the class path.
 *
 * <p>Implement {@link EffectHandler} to answer with bytes that the ledger keeps, or {@link
 * TransactionalHandler} to write tables of your own in the transaction that completes the task.
 *
 * <p>Ordering: none between tasks; an attempt may repeat what an earlier one began. Thread rule:
 * one handler serves many threads at once. Failure: an exception counts as {@link
 * HandlerResult.Failed}. A handler is interrupted when its lease is lost or its task's cancellation
 * was asked for (whatever it answers then is not committed), and when the dispatcher stops and its
 * drain limit is over.
 */
public sealed interface TaskHandler permits EffectHandler, TransactionalHandler {
  /** The kind of work that it does: the CloudEvent's type. */
  String kind();
}
