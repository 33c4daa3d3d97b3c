package io.escapement.ledger;

import java.time.Instant;

/**
 * A clock that the functions of one test's ledger read instead of the server's, and that stands
 * where the test puts it: so that what happens at the very moment can be shown.
 *
 * <p>The functions' search path finds {@code now()} and {@code clock_timestamp()} here first.
 */
final class DatabaseClock {

  private final TestLedger db;

  private DatabaseClock(TestLedger db) {
    this.db = db;
  }

  /** Stops the clock of a ledger at the present moment. */
  static DatabaseClock stop(TestLedger db) {
    db.execute(
        """
        create schema stopped;
        create table stopped.clock (at timestamptz not null);
        insert into stopped.clock values (pg_catalog.clock_timestamp());
        create function stopped.now() returns timestamptz
          language sql stable as 'select at from stopped.clock';
        create function stopped.clock_timestamp() returns timestamptz
          language sql volatile as 'select at from stopped.clock';
        do $$
        declare
          f regprocedure;
        begin
          for f in
            select oid from pg_proc
            where pronamespace = 'escapement'::regnamespace
              and proconfig::text like '%search_path=escapement, pg_temp%'
          loop
            execute format(
              'alter function %s set search_path = stopped, escapement, pg_catalog, pg_temp', f);
          end loop;
        end $$;
        """);
    return new DatabaseClock(db);
  }

  /** Puts the clock to a moment. */
  void set(Instant moment) {
    db.execute("update stopped.clock set at = '" + moment + "'");
  }

  Instant read() {
    return Instant.parse(
        db.column(
                "select to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
                    + " from stopped.clock")
            .get(0));
  }
}
