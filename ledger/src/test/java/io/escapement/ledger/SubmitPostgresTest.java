package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ledger alone, driven by SQL. */
class SubmitPostgresTest {

  private TestLedger db;

  @BeforeEach
  void open() {
    db = TestLedger.create();
  }

  @AfterEach
  void auditAndClose() {
    assertThat(db.column("select detail from escapement.audit()")).isEmpty();
    db.close();
  }

  @Test
  void aRequestIsAcceptedReplayedAndConflicts() {
    assertThat(submit("'/s', '1', 'acme', 'work', 'abc'")).isEqualTo("accepted");
    assertThat(submit("'/s', '1', 'acme', 'work', 'abc'")).isEqualTo("replay");
    assertThat(submit("'/s', '1', 'acme', 'work', 'abd'")).isEqualTo("conflict");
    assertThat(db.events()).allMatch(OutboxEvent.Hint.class::isInstance).hasSize(1);
  }

  @Test
  void severalRequestsMayShareATransaction() {
    db.execute(
        "begin; select * from escapement.submit('/s', '1', 'acme', 'work', 'abc');"
            + " select * from escapement.submit('/s', '1', 'acme', 'work', 'abc');"
            + " select * from escapement.submit('/s', '2', 'acme', 'work', 'abc'); commit");
    assertThat(db.number("select count(*) from escapement.task")).isEqualTo(2);
  }

  @Test
  void aTaskIsClaimedAndDoneFromSql() {
    submit("'/s', '1', 'acme', 'work', 'abc'");
    assertThat(
            db.column(
                "select convert_from(value, 'UTF8') || ' ' || answer"
                    + " from escapement.claim_due('me', 'default', null, null, 5)"))
        .containsExactly("abc CLAIMED");
    assertThat(
            db.column(
                "select state from escapement.observe(array(select id from escapement.task),"
                    + " array[1], array['COMPLETED'], null, array['effect'::bytea])"))
        .containsExactly("DONE");
  }

  @Test
  void whatNobodyCanMeanIsInvalid() {
    String[][] wrong = {
      {"'/s', '1', 'acme', 'unheard of', 'a'", "type: no kind of this name is defined"},
      {"'', '1', 'acme', 'work', 'a'", "source: must have 1 to 1024 bytes"},
      {"null, '1', 'acme', 'work', 'a'", "source: must have 1 to 1024 bytes"},
      {"'/s', null, 'acme', 'work', 'a'", "id: must have 1 to 512 bytes"},
      {"'/s', repeat('é', 257), 'acme', 'work', 'a'", "id: must have 1 to 512 bytes"},
      {"'/s', '1', null, 'work', 'a'", "tenant: must have 1 to 128 bytes"},
      {"'/s', '1', repeat('t', 129), 'work', 'a'", "tenant: must have 1 to 128 bytes"},
      {"'/s', E'1\\n2', 'acme', 'work', 'a'", "id: has control characters"},
      {"E'/\\t', '1', 'acme', 'work', 'a'", "source: has control characters"},
      {"'/s', '1', U&'a\\0085', 'work', 'a'", "tenant: has control characters"},
      {"'/s', '1', 'acme', 'work', 'a', E's\\x7f'", "subject: has control characters"},
      {"'escapement:x', '1', 'acme', 'work', 'a'", "source: must not begin with escapement:"},
      {"'/s', '1', 'acme', 'work', null", "data: the record has no value"},
      {
        "'/s', '1', 'acme', 'work', 'a', p_due => now() + interval '101 years'",
        "dueat: more than a hundred years ahead"
      },
      {
        "'/s', '1', 'acme', 'work', 'a', p_due => '200000-01-01'",
        "dueat: more than a hundred years ahead"
      },
      {
        "'/s', '1', 'acme', 'work', 'a', p_expires => now() + interval '101 years'",
        "expiresat: more than a hundred years ahead"
      },
      {
        "'/s', '1', 'acme', 'work', 'a', p_expires => now() - interval '1 second'",
        "expiresat: not after the due time"
      },
      {
        "'/s', '1', 'acme', 'work', 'a', p_issued => now() + interval '6 minutes'",
        "time: more than 5 minutes ahead of the database's clock"
      },
    };
    for (String[] one : wrong) {
      assertThat(db.column("select reason from escapement.submit(" + one[0] + ")"))
          .describedAs(one[0])
          .containsExactly(one[1]);
    }
    assertThat(db.number("select count(*) from escapement.intent")).isZero();
  }

  @Test
  void aDueTimeInThePastMeansNow() {
    assertThat(submit("'/s', '1', 'acme', 'work', 'a', p_due => '0400-01-01 BC'"))
        .isEqualTo("accepted");
    assertThat(
            db.number(
                "select count(*) from escapement.task where due_at > now() - interval '1 minute'"))
        .isEqualTo(1);
  }

  /** Numbers of attempts come to an end instead of wrapping. */
  @Test
  void aTaskWithoutFurtherNumbersIsNotClaimed() {
    submit("'/s', '1', 'acme', 'work', 'a'");
    db.execute("alter table escapement.attempt disable trigger all");
    db.execute("update escapement.task set attempt = 2000000000");
    assertThat(
            db.column(
                "select answer from escapement.claim('me', null, array(select id from escapement.task))"))
        .containsExactly("NOT_CLAIMABLE");
    db.execute("update escapement.task set attempt = 0");
  }

  /** Backoff is capped before it could overflow. */
  @Test
  void theBackoffOfALateAttemptIsTheCap() {
    db.execute(
        "select escapement.define_kind('slow', p_backoff_base => '7 days', p_backoff_cap => '7 days')");
    submit("'/s', '1', 'acme', 'slow', 'a'");
    db.execute("update escapement.task set attempt = 1999999999");
    db.execute("select escapement.claim('me', null, array(select id from escapement.task))");
    db.execute(
        "select escapement.observe(array(select id from escapement.task), array[2000000000],"
            + " array['FAILED'], null, null)");
    assertThat(
            db.number(
                "select count(*) from escapement.task where state = 'SCHEDULED'"
                    + " and due_at between now() + interval '6 days' and now() + interval '9 days'"))
        .isEqualTo(1);
    db.execute("update escapement.task set attempt = 1");
    db.execute("update escapement.attempt set number = 1");
  }

  private String submit(String arguments) {
    return db.column("select decision from escapement.submit(" + arguments + ")").get(0);
  }
}
