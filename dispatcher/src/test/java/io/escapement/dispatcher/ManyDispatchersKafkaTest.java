package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.dispatcher.DispatcherFixture.SLOTS;
import static io.escapement.dispatcher.DispatcherFixture.handler;
import static io.escapement.dispatcher.DispatcherFixture.withKafka;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several dispatchers of one group, and a group that changes while it works. */
class ManyDispatchersKafkaTest {

  private static final String EARLY =
      "select count(*) from escapement.attempt where claimed_at < due_at";
  private static final int PARTITIONS = 4;

  @TempDir Path directory;
  private DispatcherFixture fixture;
  private int submitted;

  @BeforeEach
  void open() throws Exception {
    fixture = new DispatcherFixture(directory, PARTITIONS);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /** A handler for processes. */
  static final class Done implements EffectHandler {
    @Override
    public String kind() {
      return "work";
    }

    @Override
    public HandlerResult handle(Task task) {
      return HandlerResult.done(task.value());
    }
  }

  @Test
  void threeProcessesClaimEachDelayedTaskOnceAndNoneBeforeItsTime() throws Exception {
    List<DispatcherProcess> processes = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      processes.add(fixture.startProcess("p" + i, fixture.config(), Done.class));
    }
    await()
        .atMost(LIMIT)
        .until(
            () ->
                processes.stream().mapToInt(DispatcherProcess::slots).sum() == SLOTS
                    && processes.stream().allMatch(p -> p.slots() > 0));
    Instant start = fixture.ingest.clock();
    fixture.submit(
        300, i -> request("n" + i).dueAt(start.plusMillis(500 + i * 10L)).value("v" + i));
    fixture.awaitState("DONE", 300);

    assertThat(fixture.db.number("select count(*) from escapement.attempt")).isEqualTo(300);
    assertThat(
            fixture.db.number(
                "select count(*) from escapement.effect e join escapement.intent i"
                    + " on i.id = e.task_id where e.bytes = i.value"))
        .isEqualTo(300);
    assertThat(
            fixture.db.number(
                "select count(distinct split_part(worker, '/', 2)) from escapement.attempt"))
        .as("processes that took part")
        .isEqualTo(3);
    assertThat(fixture.db.number(EARLY)).isZero();
    assertThat(
            fixture.numberAfter(
                "update escapement.attempt set claimed_at = due_at - interval '1 microsecond'"
                    + " where task_id = (select min(task_id) from escapement.attempt)",
                EARLY))
        .as("the control: one that was a microsecond early")
        .isEqualTo(1);
  }

  @Test
  void aGroupThatGrowsAndShrinksUnderLoadLosesNothingAndOwnsEachSlotOnce() {
    List<Dispatcher> group = new ArrayList<>();
    startOne(group);
    load();
    for (int i = 0; i < 3; i++) {
      startOne(group);
      load();
    }
    awaitEachSlotOwnedOnce(group, 4);
    load();
    for (int i = 0; i < 2; i++) {
      group.remove(0).close();
      load();
    }
    awaitEachSlotOwnedOnce(group, 2);
    load();
    fixture.awaitState("DONE", submitted);
    assertThat(fixture.db.number("select count(*) from escapement.effect")).isEqualTo(submitted);
  }

  /**
   * Only the group's leader looks for new partitions; the others hold what they know of the topic
   * for minutes. With a number of partitions of which the old one is no divisor, a member that
   * reckoned with the old one would leave slots to nobody.
   */
  @Test
  void partitionsThatAreAddedLeaveEachSlotOwnedOnceAndNothingWaiting() throws Exception {
    List<Dispatcher> group = new ArrayList<>();
    DispatcherConfig leads = withKafka(fixture.config(), "metadata.max.age.ms", "500");
    DispatcherConfig follows = withKafka(fixture.config(), "metadata.max.age.ms", "300000");
    group.add(fixture.start(leads, handler(Task::value)));
    awaitEachSlotOwnedOnce(group, 1);
    for (int i = 0; i < 2; i++) {
      group.add(fixture.start(follows, handler(Task::value)));
    }
    awaitEachSlotOwnedOnce(group, 3);
    load();
    fixture.addPartitions(PARTITIONS + 1);
    load();
    // Before the change one of the three had 128 slots; of five partitions two have 51 or 52 each.
    await()
        .atMost(LIMIT)
        .until(
            () ->
                sum(group) == SLOTS
                    && group.stream().allMatch(one -> one.stats().slots() <= 104)
                    && group.stream().allMatch(one -> one.stats().slots() % 64 != 0));
    fixture.submit(SLOTS * 4, i -> request("after" + i));
    submitted += SLOTS * 4;
    fixture.awaitState("DONE", submitted);
    assertThat(fixture.db.number("select count(distinct slot) from escapement.task"))
        .as("slots with work")
        .isGreaterThan(240);
  }

  private void startOne(List<Dispatcher> group) {
    group.add(fixture.start(fixture.config(), handler(Task::value)));
  }

  private void load() {
    int base = submitted;
    fixture.submit(300, i -> request("n" + (base + i)));
    submitted += 300;
  }

  private static void awaitEachSlotOwnedOnce(List<Dispatcher> group, int members) {
    await()
        .atMost(LIMIT)
        .until(
            () ->
                group.size() == members
                    && sum(group) == SLOTS
                    && group.stream().allMatch(one -> one.stats().slots() > 0));
  }

  private static int sum(List<Dispatcher> group) {
    return group.stream().mapToInt(one -> one.stats().slots()).sum();
  }
}
