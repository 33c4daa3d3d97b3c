package io.escapement.dispatcher;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.embedded.stub.StubCounts;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Decision;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.PauseScope;
import io.escapement.ledger.Preference;
import io.escapement.ledger.Requests;
import io.escapement.ledger.Role;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** People are told of an event once, on each channel that they have switched on. */
class NotificationKafkaTest {

  @TempDir Path directory;
  private ChannelFixture world;

  @BeforeEach
  void open() throws Exception {
    world = new ChannelFixture(directory);
    Duration timeout = ChannelFixture.TIMEOUT;
    world.define(
        ChannelDefinition.idempotent("mail", timeout, null), world.calls("/mail/{address}"));
    world.define(
        ChannelDefinition.queryable("push", timeout, Duration.ZERO),
        "url = {address}\nreplay = 200\nquery.url = "
            + world.stub.messages()
            + "/{key}\nquery.not-found = 404\nallow-private = true\n");
    world.fixture.operator.defineKind(shipped(), "test");
  }

  private static KindDefinition shipped() {
    return KindDefinition.local("shipped")
        .byPreference("mail", "push")
        .withLease(ChannelFixture.LEASE);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void aNotificationGoesOnceToEachChannelThatIsSwitchedOn() {
    prefer("anna", "mail", "anna@example.org", true);
    prefer("anna", "push", world.stub.messages() + "/push", true);
    prefer("ben", "mail", "ben@example.org", true);
    prefer("ben", "push", world.stub.messages() + "/push", false);
    world.fixture.submit(1, i -> to("anna", "n1"));
    world.fixture.submit(1, i -> to("ben", "n2"));
    world.start();
    world.awaitSettled(DispatcherFixture.LIMIT);
    assertThat(lives())
        .containsExactlyInAnyOrder(
            "n1 mail DONE ACCEPTED", "n1 push DONE ACCEPTED", "n2 mail DONE ACCEPTED");
    Map<String, StubCounts> counts = world.stub.all();
    assertThat(counts).hasSize(3);
    assertThat(counts.values()).allMatch(one -> one.calls() == 1 && one.delivered() == 1);
  }

  @Test
  void eightSubmissionsAtOnceFromEightSourcesAreOneNotification() throws Exception {
    prefer("anna", "mail", "anna@example.org", true);
    List<Callable<Decision>> submissions = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String source = "/service-" + i;
      submissions.add(
          () -> {
            try (Ledger ingest = world.db.connect(Role.INGEST)) {
              return world.db.submit(ingest, to("anna", "same").namespace(source).build()).get(0);
            }
          });
    }
    List<Decision> decisions = new ArrayList<>();
    try (ExecutorService all = Executors.newFixedThreadPool(8)) {
      for (Future<Decision> one : all.invokeAll(submissions)) {
        decisions.add(one.get());
      }
    }
    assertThat(decisions).containsOnlyOnce(Decision.ACCEPTED).contains(Decision.REPLAY);
    assertThat(decisions).filteredOn(d -> d == Decision.REPLAY).hasSize(7);
    world.start();
    world.awaitSettled(DispatcherFixture.LIMIT);
    assertThat(lives()).containsExactly("same mail DONE ACCEPTED");
    assertThat(world.counts("same").calls()).isEqualTo(1);
  }

  @Test
  void theSameUserInTwoTenantsIsTwoPeople() {
    for (String tenant : List.of("one", "two")) {
      world.fixture.operator.setPreference(
          new Preference(tenant, "anna", "mail", tenant + "@example.org", true, null), "test");
      world.fixture.submit(1, i -> to("anna", "same").tenant(tenant));
    }
    world.start();
    world.awaitSettled(DispatcherFixture.LIMIT);
    assertThat(lives()).hasSize(2).containsOnly("same mail DONE ACCEPTED");
  }

  @Test
  void whoHasNoChannelIsToldNothingAndThatIsTheEndOfIt() {
    prefer("anna", "mail", null, false);
    world.fixture.submit(1, i -> to("anna", "n1"));
    assertThat(lives()).isEmpty();
    assertThat(world.db.number("select count(*) from escapement.intent")).isEqualTo(1);
    assertThat(world.db.number("select used_tasks from escapement.budgets where tenant is null"))
        .isZero();
  }

  @Test
  void aPreferenceThatIsSwitchedOffBeforeTheClaimSuppresses() {
    prefer("anna", "mail", "anna@example.org", true);
    world.fixture.operator.pause(PauseScope.KIND, "shipped", "test");
    world.fixture.submit(1, i -> to("anna", "n1"));
    prefer("anna", "mail", "anna@example.org", false);
    world.fixture.operator.resume(PauseScope.KIND, "shipped", "test");
    world.start();
    world.awaitSettled(DispatcherFixture.LIMIT);
    assertThat(lives()).containsExactly("n1 mail SUPPRESSED PREFERENCE_OFF");
    assertThat(world.stub.all()).isEmpty();
  }

  private void prefer(
      String subject,
      String channel,
      @org.jspecify.annotations.Nullable String address,
      boolean enabled) {
    world.fixture.operator.setPreference(
        new Preference("acme", subject, channel, address, enabled, null), "test");
  }

  private static Requests to(String subject, String id) {
    return request(id).kind("shipped").tenant("acme").subject(subject);
  }

  /** Each task with its attempts' outcomes. */
  private List<String> lives() {
    return world.db.column(
        "select i.event_id || ' ' || t.channel || ' ' || t.state || ' ' || (select"
            + " string_agg(a.outcome, ',' order by a.number) from escapement.attempt a"
            + " where a.task_id = t.id) from escapement.task t"
            + " join escapement.intent i on i.id = t.intent_id");
  }
}
