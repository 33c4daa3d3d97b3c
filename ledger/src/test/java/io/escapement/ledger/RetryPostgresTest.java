package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A call that the server has undone as a whole is made again, a bounded number of times. */
class RetryPostgresTest {

  private TestLedger db;
  private Ledger reader;

  @BeforeEach
  void open() {
    db = TestLedger.create();
    reader = db.connect(Role.READER);
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void aDeadlockOrASerializationFailureIsTriedAgain() {
    for (String undone : new String[] {"40P01", "40001"}) {
      failTheFirst(4, undone);
      assertThat(reader.clock()).isNotNull();
      assertThat(calls()).describedAs(undone).isEqualTo(5);
    }
  }

  @Test
  void butNotForEver() {
    failTheFirst(1_000, "40P01");
    assertThatThrownBy(reader::clock)
        .isInstanceOfSatisfying(
            LedgerException.class, e -> assertThat(e.sqlState()).isEqualTo("40P01"));
    assertThat(calls()).isEqualTo(5);
  }

  @Test
  void andNothingElse() {
    failTheFirst(1, "55P03");
    assertThatThrownBy(reader::clock)
        .isInstanceOfSatisfying(
            LedgerException.class, e -> assertThat(e.sqlState()).isEqualTo("55P03"));
    assertThat(calls()).isEqualTo(1);
  }

  /** Counts in a sequence, because that is not undone with the call. */
  private void failTheFirst(int times, String sqlState) {
    db.execute(
        "create sequence if not exists escapement.calls; alter sequence escapement.calls restart");
    db.execute(
        "create or replace function escapement.clock() returns timestamptz"
            + " language plpgsql security definer set search_path = escapement, pg_temp as"
            + " $$ begin if nextval('calls') <= "
            + times
            + " then raise exception 'undone' using errcode = '"
            + sqlState
            + "'; end if; return clock_timestamp(); end $$");
  }

  private long calls() {
    return db.number("select last_value from escapement.calls");
  }
}
