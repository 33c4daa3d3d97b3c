package io.escapement.dispatcher;

import java.sql.Connection;

/**
 * A handler that writes its own tables, in the ledger's database, in the transaction that completes
 * its task. Costs a transaction and a connection for each task.
 *
 * <p>It runs under the role {@code escapement_dispatcher}; grant that role what it needs. Any
 * answer but {@link HandlerResult.Done}, and any exception, undoes what it wrote; so do a lost
 * lease and a cancellation that comes while it runs.
 */
public non-sealed interface TransactionalHandler extends TaskHandler {
  /**
   * Does the work.
   *
   * @param connection of the completing transaction; commit, rollback and autocommit are refused
   */
  HandlerResult handle(Task task, Connection connection) throws Exception;
}
