package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Thousands of random commands: PostgreSQL and a model in memory must agree on everything. */
class LedgerModelPostgresTest {

  private static final Logger LOG = LoggerFactory.getLogger(LedgerModelPostgresTest.class);

  private static final int COMMANDS = Integer.getInteger("ledger.commands", 3_000);
  private static final int EPISODE = 100;
  private static final int MAX_EPISODES_OF_A_CONTROL = 200;
  private static final int MAX_SHRINKING_RUNS = 300;

  /** Repeat a run with {@code -Dledger.seed=…}. */
  private static final long SEED =
      Long.getLong("ledger.seed", ThreadLocalRandom.current().nextLong());

  private static LedgerRows rows;

  @BeforeAll
  static void open() throws Exception {
    rows = new LedgerRows();
    LedgerScript.define(rows);
  }

  @AfterAll
  static void close() throws Exception {
    rows.close();
  }

  @Test
  void ledgerAndModelAgree() {
    Set<String> rulesUsed = new TreeSet<>();
    Set<String> answers = new TreeSet<>();
    int done = 0;
    for (int episode = 0; done < COMMANDS; episode++) {
      long[] commands = LedgerScript.random(SEED + episode, EPISODE);
      LedgerScript script = new LedgerScript(rows, rulesUsed, answers);
      try {
        script.run(commands);
      } catch (Throwable failure) {
        fail(explain(commands), failure);
      }
      done += EPISODE;
    }
    LOG.info(
        "{} commands with -Dledger.seed={} agree; {} of {} rules were needed, answers {}",
        done,
        SEED,
        rulesUsed.size(),
        rows.db.number("select count(*) from escapement.rule"),
        answers);
    assertThat(rulesUsed).hasSizeGreaterThan(Math.min(COMMANDS / 30, 100));
  }

  /** A guard of the schema's functions, and what stands there without it. */
  record Guard(String function, String guard, String without) {}

  static List<Guard> guards() {
    return List.of(
        new Guard("observe", "t.id = u.task and t.attempt = u.attempt", "t.id = u.task"),
        new Guard("observe", "l.lease_until > clock_timestamp()", "true"),
        new Guard("observe", "and a.late_outcome is null", ""),
        new Guard("claim", "and t.due_at <= now()", "and t.due_at is not null"),
        new Guard("claim", "when d.expires_at <= now() then 'TTL_EXPIRED'", ""),
        new Guard(
            "settle", "where r.next_state >= 'DONE' group", "where r.next_state > 'DONE' group"),
        new Guard(
            "settle", "case when r.next_uncertain then t.first_sent_at end", "t.first_sent_at"),
        new Guard("reclaim", "where t.id = any(v_lost) and t.lease_until <= now()", "where false"),
        new Guard("redrive", "v_task.attempt is distinct from p_attempt", "false"),
        new Guard("cancel", "or v_task.uncertain then 'REQUESTED'", "then 'REQUESTED'"),
        new Guard("admit", "when not u.fresh and u.same then 'replay'", ""));
  }

  /** The controls: with a guard taken out of the schema, the same scripts must find it. */
  @ParameterizedTest
  @MethodSource("guards")
  void aGuardThatIsTakenOutIsMissed(Guard guard) {
    String original =
        rows.db
            .column(
                "select pg_get_functiondef(p.oid) from pg_proc p where p.proname = '%s'"
                        .formatted(guard.function)
                    + " and p.pronamespace = 'escapement'::regnamespace")
            .get(0);
    assertThat(original).contains(guard.guard);
    rows.db.execute(original.replace(guard.guard, guard.without));
    try {
      assertThat(findsSomething()).isTrue();
    } finally {
      rows.db.execute(original);
    }
  }

  @Test
  void aRedrivenTaskThatWasNeverClaimedIsUnstarted() {
    rows.empty();
    rows.db.submit(rows.ingest, Requests.request("a").build());
    rows.read();
    long task = rows.ids().values().iterator().next();
    rows.operator.quarantine(task, "test");
    assertThat(rows.operator.redrive(task, 0, "test")).isEqualTo(Redriven.REDRIVEN);
    assertThat(rows.operator.cancel("/test", "a", true, "test"))
        .containsExactly(new CancelAnswer(task, CancelAnswer.Result.CANCELLED_UNSTARTED));
  }

  /** The control of the rules themselves: a lost call that is taken for one that was never made. */
  @Test
  void aRuleThatForgetsWhatIsAtLargeIsFound() {
    rows.db.execute(
        """
        create table public.rule_before as select * from escapement.rule;
        update escapement.rule set next_state = 'SCHEDULED', next_uncertain = false
        where contract = 'IDEMPOTENT' and observation = 'LEASE_EXPIRED' and next_due = 'BACKOFF'
        """);
    try {
      assertThat(findsSomething()).isTrue();
    } finally {
      rows.db.execute(
          """
          delete from escapement.rule;
          insert into escapement.rule select * from public.rule_before;
          drop table public.rule_before
          """);
    }
  }

  private static boolean findsSomething() {
    for (int episode = 0; episode < MAX_EPISODES_OF_A_CONTROL; episode++) {
      Throwable failure = failure(LedgerScript.random(SEED + episode, EPISODE));
      if (failure != null) {
        LOG.info("found in episode {}: {}", episode, failure.toString().lines().limit(2).toList());
        return true;
      }
    }
    return false;
  }

  private static String explain(long[] failing) {
    long[] smallest = shrink(failing);
    LedgerScript script = new LedgerScript(rows, new TreeSet<>(), new TreeSet<>());
    String last = "it does not fail when it is run again";
    try {
      script.run(smallest);
    } catch (Throwable failure) {
      last = String.valueOf(failure.getMessage());
    }
    return "with -Dledger.seed=%d; %d commands suffice: %s%n%s%n%s"
        .formatted(
            SEED,
            smallest.length,
            Arrays.toString(smallest),
            String.join("\n", script.log().stream().filter(l -> !l.startsWith("define")).toList()),
            last);
  }

  /** Leaves out ever smaller parts while the rest goes on failing. */
  private static long[] shrink(long[] failing) {
    long[] smallest = failing;
    int runs = 0;
    for (int part = Math.max(1, failing.length / 2); part > 0; part /= 2) {
      for (int from = 0; from + part <= smallest.length && runs < MAX_SHRINKING_RUNS; runs++) {
        long[] without = new long[smallest.length - part];
        System.arraycopy(smallest, 0, without, 0, from);
        System.arraycopy(smallest, from + part, without, from, without.length - from);
        if (failure(without) != null) {
          smallest = without;
        } else {
          from += part;
        }
      }
    }
    return smallest;
  }

  private static @Nullable Throwable failure(long[] commands) {
    try {
      new LedgerScript(rows, new TreeSet<>(), new TreeSet<>()).run(commands);
      return null;
    } catch (Throwable failure) {
      return failure;
    }
  }
}
