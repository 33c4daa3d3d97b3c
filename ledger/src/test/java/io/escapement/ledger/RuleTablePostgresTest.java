package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RuleTablePostgresTest {

  private TestLedger db;

  @BeforeEach
  void open() {
    db = TestLedger.create();
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void everyCombinationThatCanOccurHasExactlyOneRule() {
    assertThat(
            db.column(
                """
                select o || ' ' || tries || ' ' || cancel || ' ' || policy
                from unnest(array['COMPLETED', 'FAILED', 'POISONED', 'LEASE_EXPIRED', 'RELEASED',
                                  'TTL_EXPIRED']) o,
                  unnest(array[true, false]) tries, unnest(array[true, false]) cancel,
                  unnest(array['FAILED', 'QUARANTINED']) policy
                where (select count(*) from escapement.rule r
                       where r.contract = 'TRANSACTIONAL' and r.observation = o
                         and not r.uncertain and r.tries_left = tries
                         and r.cancel_requested = cancel and r.exhaustion = policy) <> 1
                """))
        .isEmpty();
    assertThat(db.number("select count(*) from escapement.rule")).isEqualTo(48);
  }

  @Test
  void whoAskedToCancelARunningTaskAlwaysGetsIt() {
    assertThat(db.column("select distinct next_state from escapement.rule where cancel_requested"))
        .containsExactly("CANCELLED");
  }

  @Test
  void onlyDoneWritesAnEffect() {
    assertThat(
            db.number(
                "select count(*) from escapement.rule"
                    + " where writes_effect <> (next_state = 'DONE')"))
        .isZero();
  }

  @Test
  void noStateWithoutAWayOnIsEntered() {
    assertThat(
            db.column("select distinct next_state from escapement.rule where next_due <> 'NEVER'"))
        .containsExactly("SCHEDULED");
  }
}
