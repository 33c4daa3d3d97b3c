package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.dispatcher.KnownTasks.Armed;
import io.escapement.dispatcher.KnownTasks.Known;
import io.escapement.dispatcher.KnownTasks.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class KnownTasksTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private final KnownTasks tasks = new KnownTasks(10, 0);

  @Test
  void timersForLaterNeverKeepOutWhatIsDue() {
    for (long task = 0; task < 5; task++) {
      assertThat(arm(task, 30 * SECOND, true)).isEqualTo(Armed.ARMED);
    }
    assertThat(arm(5, 30 * SECOND, true)).isEqualTo(Armed.FULL);
    for (long task = 5; task < 10; task++) {
      assertThat(arm(task, 0, false)).isEqualTo(Armed.ARMED);
    }
    assertThat(arm(10, 0, false)).isEqualTo(Armed.FULL);
  }

  @Test
  void aTenantsBacklogLeavesRoomForOthersAndMoreOnceItHasGone() {
    KnownTasks roomy = new KnownTasks(120, 0);
    assertThat(armed(roomy, "a", 0, 200)).isEqualTo(60);
    assertThat(armed(roomy, "b", 1_000, 200)).isEqualTo(30);
    assertThat(armed(roomy, "c", 2_000, 200)).as("a few in any case").isEqualTo(16);
    for (long task = 0; task < 60; task++) {
      roomy.forget(task);
    }
    assertThat(armed(roomy, "a", 0, 200)).as("as much as is left then").isEqualTo(37);
    assertThat(armed(roomy, "d", 3_000, 200)).isEqualTo(19);
  }

  private static int armed(KnownTasks tasks, String tenant, long first, int count) {
    int armed = 0;
    for (long task = first; task < first + count; task++) {
      if (tasks.arm(task, tenant, 1, 0, false, false) == Armed.ARMED) {
        armed++;
      }
    }
    return armed;
  }

  @Test
  void aTaskHasOneTimerAndOnlyAnEarlierMomentMovesIt() {
    assertThat(arm(1, 20 * SECOND, true)).isEqualTo(Armed.ARMED);
    assertThat(arm(1, 30 * SECOND, true)).isEqualTo(Armed.KNOWN);
    assertThat(arm(1, 10 * SECOND, true)).isEqualTo(Armed.ARMED);
    assertThat(fired(11 * SECOND)).containsExactly(1L);
    assertThat(fired(60 * SECOND)).isEmpty();
  }

  @Test
  void slotsThatGoTakeTheirTimersAndLeaveWhatIsInHand() {
    tasks.arm(1, "a", 1, SECOND, false, true);
    tasks.arm(2, "a", 2, SECOND, false, true);
    tasks.arm(3, "a", 2, SECOND, false, true);
    tasks.takeInHand(Objects.requireNonNull(tasks.get(3)), 7);
    tasks.keepOnly(Set.of(1));
    assertThat(tasks.get(2)).isNull();
    assertThat(fired(2 * SECOND)).containsExactly(1L);
    Known inHand = Objects.requireNonNull(tasks.get(3));
    assertThat(inHand.phase).isEqualTo(Phase.IN_HAND);
    assertThat(inHand.attempt).isEqualTo(7);
  }

  @Test
  void underAnotherClockOnlyWhatIsInHandIsKept() {
    arm(1, SECOND, true);
    arm(2, SECOND, true);
    tasks.takeInHand(Objects.requireNonNull(tasks.get(2)), 1);
    KnownTasks fresh = tasks.onlyInHand(-60 * SECOND);
    assertThat(fresh.get(1)).isNull();
    assertThat(fresh.get(2)).isNotNull();
    assertThat(fresh.arm(2, "a", 1, 0, false, true)).isEqualTo(Armed.KNOWN);
    assertThat(fresh.arm(3, "a", 1, -59 * SECOND, false, true)).isEqualTo(Armed.ARMED);
  }

  private Armed arm(long task, long wakeNanos, boolean later) {
    return tasks.arm(task, "a", 1, wakeNanos, false, later);
  }

  private List<Long> fired(long nowNanos) {
    List<Long> fired = new ArrayList<>();
    tasks.advance(nowNanos, 100, (task, due, handle) -> fired.add(task));
    return fired;
  }
}
