package io.escapement.ledger;

import java.sql.Connection;

/** Work that writes its own tables in the transaction that completes its task. */
@FunctionalInterface
public interface TransactionalWork {
  /**
   * Does the work.
   *
   * @param connection of the completing transaction; it refuses commit, rollback and autocommit
   * @return what to record; anything but COMPLETED undoes what the work wrote
   */
  Observation run(Connection connection) throws Exception;
}
