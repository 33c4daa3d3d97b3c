package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rows of the rule table against the design, which is said here once more. */
class RuleTablePostgresTest {

  /**
   * The rules in words, as the design has them. Contracts and observations; whether an earlier call
   * may have been accepted; then what follows with tries left, with tries used up, and if a
   * cancellation was asked for (two answers there: with tries left; used up). "dead" is what the
   * kind's exhaustion policy says; "parked" is UNKNOWN that is never due.
   */
  private static final String DESIGN =
      """
      T    | COMPLETED                               | no     | DONE effect       | DONE effect       | CANCELLED
      T    | FAILED                                  | no     | SCHEDULED backoff | dead              | CANCELLED
      T    | LEASE_EXPIRED                           | no     | SCHEDULED now     | dead              | CANCELLED
      T    | POISONED                                | no     | dead              | dead              | CANCELLED
      I Q O | ACCEPTED ACCEPTED_REPLAY               | no yes | DONE              | DONE              | DONE
      Q    | QUERY_FOUND                             | yes    | DONE              | DONE              | DONE
      I Q O | REFUSED                                | no     | SCHEDULED backoff | dead              | CANCELLED
      I    | REFUSED                                 | yes    | UNKNOWN backoff   | parked            | parked
      Q    | REFUSED                                 | yes    | UNKNOWN backoff   | parked            | UNKNOWN backoff; parked
      O    | REFUSED                                 | yes    | parked            | parked            | parked
      I Q O | REJECTED                               | no     | FAILED            | FAILED            | CANCELLED
      I Q O | REJECTED                               | yes    | parked            | parked            | parked
      I    | TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED  | no yes | UNKNOWN backoff   | parked            | parked
      Q    | TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED  | no yes | UNKNOWN settle    | parked            | UNKNOWN settle; parked
      O    | TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED  | no yes | parked            | parked            | parked
      Q    | QUERY_NOT_FOUND                         | yes    | SCHEDULED now     | dead              | CANCELLED
      Q    | QUERY_FAILED                            | yes    | UNKNOWN backoff   | parked            | UNKNOWN backoff; parked
      T I Q O | PREFERENCE_OFF                       | no     | SUPPRESSED        | SUPPRESSED        | CANCELLED
      T I Q O | TTL_EXPIRED                          | no     | FAILED            | FAILED            | CANCELLED
      I Q O | PREFERENCE_OFF TTL_EXPIRED             | yes    | parked            | parked            | parked
      I    | KEY_EXPIRED                             | yes    | parked            | parked            | parked
      T I Q O | RELEASED                             | no     | SCHEDULED now try | SCHEDULED now try | CANCELLED try
      I    | RELEASED                                | yes    | UNKNOWN now try   | UNKNOWN now try   | parked try
      Q    | RELEASED                                | yes    | UNKNOWN now try   | UNKNOWN now try   | UNKNOWN now try
      I Q O | MANUAL_DONE                            | yes    | DONE              | DONE              | DONE
      I Q O | MANUAL_FAILED                          | yes    | FAILED            | FAILED            | FAILED
      I Q O | MANUAL_RETRY                           | yes    | SCHEDULED now fresh | SCHEDULED now fresh | CANCELLED
      """;

  private static final Set<String> OF_A_RUN = Set.of("COMPLETED", "FAILED", "POISONED");
  private static final Set<String> OF_A_CALL =
      Set.of(
          "ACCEPTED", "ACCEPTED_REPLAY", "REFUSED", "REJECTED", "TIMEOUT", "IO_ERROR", "UNCLEAR");
  private static final Set<String> OF_A_QUESTION =
      Set.of("QUERY_FOUND", "QUERY_NOT_FOUND", "QUERY_FAILED");
  private static final Set<String> OF_A_PERSON =
      Set.of("MANUAL_DONE", "MANUAL_FAILED", "MANUAL_RETRY");
  private static final Set<String> OF_THE_LEDGER =
      Set.of("LEASE_EXPIRED", "RELEASED", "PREFERENCE_OFF", "TTL_EXPIRED", "KEY_EXPIRED");

  private static final String WAYS =
      """
      select concat_ws(' ', contract, observation,
               case when uncertain then 'yes' else 'no' end,
               case when tries_left then 'left' else 'used' end,
               case when cancel_requested then 'cancel' else '-' end, exhaustion)
      """;

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
  void everyCombinationThatCanBeSeenHasExactlyOneRuleAndNoOtherHasAny() {
    List<String> expected = new ArrayList<>();
    for (Contract contract : Contract.values()) {
      for (Set<String> some :
          List.of(OF_A_RUN, OF_A_CALL, OF_A_QUESTION, OF_A_PERSON, OF_THE_LEDGER)) {
        for (String observation : some) {
          for (boolean past : new boolean[] {false, true}) {
            if (canBeSeen(contract, observation, past)) {
              expected.addAll(ways(contract, observation, past));
            }
          }
        }
      }
    }
    assertThat(db.column(WAYS + "from escapement.rule"))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  /** Who can see what, of a task of which something may or may not be at large. */
  private static boolean canBeSeen(Contract contract, String observation, boolean past) {
    boolean local = contract == Contract.TRANSACTIONAL;
    if (local && past) {
      return false; // what is done in this database is never uncertain
    }
    if (OF_A_RUN.contains(observation)) {
      return local;
    }
    if (OF_A_CALL.contains(observation)) {
      return !local;
    }
    if (OF_A_QUESTION.contains(observation)) {
      return contract == Contract.QUERYABLE && past;
    }
    if (OF_A_PERSON.contains(observation)) {
      return past; // of what is parked, and that is always uncertain
    }
    if (observation.equals("KEY_EXPIRED")) {
      return contract == Contract.IDEMPOTENT && past;
    }
    // an uncertain task of an opaque channel is parked: nobody claims it, so nobody hands it back
    return !(observation.equals("RELEASED") && contract == Contract.OPAQUE && past);
  }

  private static List<String> ways(Contract contract, String observation, boolean past) {
    List<String> ways = new ArrayList<>();
    for (String tries : List.of("left", "used")) {
      for (String cancel : List.of("-", "cancel")) {
        for (KindDefinition.Exhaustion policy : KindDefinition.Exhaustion.values()) {
          String seen = observation + (past ? " yes " : " no ");
          ways.add(contract + " " + seen + tries + " " + cancel + " " + policy);
        }
      }
    }
    return ways;
  }

  @Test
  void everyRuleSaysWhatTheDesignSays() {
    List<String> expected = new ArrayList<>();
    for (String line : DESIGN.lines().toList()) {
      String[] cell = line.split("\\|", -1);
      for (String letter : cell[0].trim().split(" ", -1)) {
        for (String observation : cell[1].trim().split(" ", -1)) {
          for (String past : cell[2].trim().split(" ", -1)) {
            for (String way : ways(contract(letter), observation, past.equals("yes"))) {
              expected.add(way + ": " + next(cell, way));
            }
          }
        }
      }
    }
    assertThat(
            db.column(
                WAYS
                    + """
                        || ': ' || concat_ws(' ', next_state,
                          case when next_uncertain then 'uncertain' end, next_due,
                          case when returns_try then 'try' end, case when fresh_tries then 'fresh' end,
                          case when writes_effect then 'effect' end)
                      from escapement.rule
                      """))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  private static Contract contract(String letter) {
    return Stream.of(Contract.values())
        .filter(c -> c.name().startsWith(letter))
        .findFirst()
        .orElseThrow();
  }

  private static String next(String[] cell, String way) {
    boolean left = way.contains(" left ");
    String words = cell[left ? 3 : 4].trim();
    if (way.contains(" cancel ")) {
      String[] either = cell[5].trim().split("; ", -1);
      words = either[left ? 0 : either.length - 1];
    }
    String state = words.split(" ", -1)[0];
    String due = "NEVER";
    for (String when : List.of("now", "backoff", "settle")) {
      due = words.contains(" " + when) ? when.toUpperCase(java.util.Locale.ROOT) : due;
    }
    String then =
        switch (state) {
          case "parked" -> "UNKNOWN uncertain NEVER";
          case "dead" -> way.substring(way.lastIndexOf(' ') + 1) + " NEVER";
          case "UNKNOWN" -> "UNKNOWN uncertain " + due;
          default -> state + " " + due;
        };
    for (String extra : List.of(" try", " fresh", " effect")) {
      then += words.endsWith(extra) ? extra : "";
    }
    return then;
  }

  /** I8: only a person gives up what may have been accepted. */
  @Test
  void whatMayHaveBeenAcceptedIsGivenUpByAPersonOrByEvidenceOnly() {
    assertThat(
            db.column(
                """
                select distinct observation from escapement.rule
                where uncertain and next_state in ('FAILED', 'CANCELLED', 'SUPPRESSED', 'QUARANTINED')
                """))
        .containsExactlyInAnyOrder("QUERY_NOT_FOUND", "MANUAL_FAILED", "MANUAL_RETRY");
  }

  /** I7: rules don't say what a task comes from, so every door must look. */
  @Test
  void noDoorChangesWhatHasEnded() {
    Ledger ingest = db.connect(Role.INGEST);
    Ledger worker = db.connect(Role.DISPATCHER);
    Ledger operator = db.connect(Role.OPERATOR);
    operator.defineChannel(
        ChannelDefinition.queryable("mail", Duration.ofSeconds(1), Duration.ZERO), "test");
    operator.defineKind(KindDefinition.local("mail").withChannel("mail"), "test");
    operator.defineKind(KindDefinition.local("note").byPreference("mail"), "test");
    Preference on = new Preference("acme", "u", "mail", null, true, null);
    operator.setPreference(on, "test");
    db.submit(
        ingest,
        request("completed").build(),
        request("failed").expiresAt(Instant.now().plusSeconds(3_600)).build(),
        request("cancelled").build(),
        request("cancelled while it ran").build(),
        request("accepted").kind("mail").build(),
        request("given up").kind("mail").maxAttempts(1).build(),
        request("suppressed").kind("note").subject("u").build());
    operator.setPreference(new Preference("acme", "u", "mail", null, false, null), "test");
    operator.cancel("/test", "cancelled", false, "test");
    List<Long> tasks =
        db.column("select id from escapement.task").stream().map(Long::valueOf).toList();
    worker.claim("w/1", WorkFilter.ANY, tasks);
    operator.cancel("/test", "cancelled while it ran", false, "test");
    byte[] effect = "done".getBytes(StandardCharsets.UTF_8);
    worker.observe(
        List.of(
            Observation.completed(task("completed"), 1, effect),
            Observation.poisoned(task("failed"), 1, "no"),
            Observation.completed(task("cancelled while it ran"), 1, effect),
            Observation.accepted(task("accepted"), 1, "m-1"),
            Observation.of(task("given up"), 1, Observation.Seen.TIMEOUT, null)));
    operator.resolve(task("given up"), Resolution.FAILED, "test");
    assertThat(db.column("select state from escapement.task order by state::text"))
        .containsExactly(
            "CANCELLED", "CANCELLED", "DONE", "DONE", "FAILED", "FAILED", "SUPPRESSED");
    db.execute("update escapement.task set expires_at = now() - interval '1 hour'");
    String rows =
        "select t::text from escapement.task t union all select a::text from escapement.attempt a"
            + " union all select e::text from escapement.effect e order by 1";
    List<String> before = db.column(rows);

    List<Integer> slots = IntStream.range(0, 256).boxed().toList();
    operator.setPreference(on, "test");
    assertThat(worker.claim("w/2", WorkFilter.ANY, tasks))
        .allMatch(a -> a instanceof ClaimAnswer.NotClaimable);
    assertThat(worker.claimDue("w/3", "default", slots, WorkFilter.ANY, 100)).isEmpty();
    worker.reclaim("default", slots, 100);
    assertThat(db.column(rows)).isEqualTo(before);
    for (long task : tasks) {
      for (int attempt = 0; attempt <= 4; attempt++) {
        for (Observation.Seen seen : Observation.Seen.values()) {
          Observation again =
              seen == Observation.Seen.COMPLETED
                  ? Observation.completed(task, attempt, effect)
                  : Observation.of(task, attempt, seen, null);
          assertThat(worker.observe(List.of(again)))
              .noneMatch(a -> a instanceof ObserveAnswer.Applied);
        }
        assertThat(worker.renew(List.of(new LeaseKey(task, attempt))))
            .allMatch(a -> a instanceof RenewAnswer.Lost);
        assertThat(operator.redrive(task, attempt, "test")).isEqualTo(Redriven.NOT_QUARANTINED);
        assertThat(operator.reschedule(task, attempt, Instant.now(), "test"))
            .isEqualTo(Rescheduled.NOT_WAITING);
      }
      assertThat(operator.quarantine(task, "test")).isEqualTo(Quarantined.NOT_WAITING);
      for (Resolution word : Resolution.values()) {
        assertThat(operator.resolve(task, word, "test")).isEqualTo(Resolved.NOT_PARKED);
        assertThat(operator.resolveAll(word, TaskFilter.ANY, 100, "test")).isEmpty();
      }
    }
    assertThat(operator.redriveAll(TaskFilter.ANY, 100, "test")).isEmpty();
    for (String id : db.column("select event_id from escapement.intent")) {
      String namespace =
          db.column("select namespace from escapement.intent where event_id = '" + id + "'").get(0);
      for (boolean unstartedOnly : new boolean[] {true, false}) {
        assertThat(operator.cancel(namespace, id, unstartedOnly, "test"))
            .extracting(CancelAnswer::result)
            .isSubsetOf(CancelAnswer.Result.TOO_LATE, CancelAnswer.Result.ALREADY_CANCELLED);
      }
    }
    assertThat(db.column(rows)).isEqualTo(before);
  }

  private long task(String id) {
    return db.number(
        "select t.id from escapement.task t join escapement.intent i on i.id = t.intent_id"
            + " where i.event_id = '"
            + id
            + "'");
  }
}
