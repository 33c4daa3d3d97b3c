package io.escapement.ledger;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A place inside a function where its statement stands still: before its first row goes into a
 * table.
 */
final class Gate {

  /** How many of a database's sessions wait at a gate; more conditions on activity follow. */
  static final String WAITING =
      "select count(*) from pg_locks l join pg_stat_activity a on a.pid = l.pid"
          + " where l.locktype = 'advisory' and not l.granted and l.classid = 1 and l.objid = 2"
          + " and a.datname = current_database()";

  private Gate() {}

  /** While this runs, whoever inserts into a table of the schema waits. */
  static void closedBefore(TestLedger db, String table, Runnable meanwhile) throws SQLException {
    db.execute(
        """
        create or replace function public.gate() returns trigger language plpgsql as $$
        begin
          perform pg_catalog.pg_advisory_xact_lock(1, 2);
          return null;
        end $$;
        create trigger gate before insert on escapement.%s for each statement
          execute function public.gate();
        """
            .formatted(table));
    try (Connection holder = db.connection();
        Statement s = holder.createStatement()) {
      s.execute("select pg_advisory_lock(1, 2)");
      meanwhile.run();
    }
    db.execute("drop trigger gate on escapement." + table);
  }
}
