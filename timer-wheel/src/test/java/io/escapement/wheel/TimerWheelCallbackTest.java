package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What handlers and visitors may do to the wheel that calls them. */
final class TimerWheelCallbackTest {
  private static final int ALL = Integer.MAX_VALUE;

  private final TimerWheel wheel = new TimerWheel(new WheelGeometry(1, 64, 3), 1000, 0);
  private final List<String> told = new ArrayList<>();

  private void tell(long payload, long dueNanos) {
    told.add(payload + "@" + dueNanos);
  }

  @Test
  void whatAHandlerSchedulesLaterButNotTooLateFiresInTheSameAdvance() {
    wheel.schedule(10, 1);
    int fired =
        wheel.advance(
            100,
            ALL,
            (payload, dueNanos, handle) -> {
              tell(payload, dueNanos);
              if (payload == 1) {
                wheel.schedule(100, 3);
                wheel.schedule(11, 2);
                wheel.schedule(101, 4);
              }
            });
    assertThat(fired).isEqualTo(3);
    assertThat(told).containsExactly("1@10", "2@11", "3@100");
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(101);
  }

  @Test
  void whatAHandlerSchedulesInThePastFiresInTheNextAdvance() {
    wheel.schedule(10, 1);
    TimerHandler again =
        (payload, dueNanos, handle) -> {
          tell(payload, dueNanos);
          wheel.schedule(payload == 1 ? 10 : 5, payload + 1);
        };
    assertThat(wheel.advance(100, ALL, again)).isEqualTo(1);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(100);
    assertThat(wheel.advance(100, ALL, again)).isEqualTo(1);
    assertThat(wheel.advance(5000, ALL, again)).isEqualTo(1);
    assertThat(told).containsExactly("1@10", "2@100", "3@100");
  }

  @Test
  void aHandlerMayCancelWhatIsDueWithIt() {
    long[] handles = new long[20];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = wheel.schedule(10, i);
    }
    int fired =
        wheel.advance(
            10,
            ALL,
            (payload, dueNanos, handle) -> {
              tell(payload, dueNanos);
              int other = (int) payload ^ 1;
              assertThat(wheel.cancel(handles[other])).isTrue();
            });
    assertThat(fired).isEqualTo(10);
    assertThat(wheel.size()).isZero();
  }

  @Test
  void aHandlerMayClear() {
    for (int i = 0; i < 20; i++) {
      wheel.schedule(10 + i % 2 * 1000, i);
    }
    wheel.schedule(-1, 100);
    int fired =
        wheel.advance(
            5000,
            ALL,
            (payload, dueNanos, handle) -> {
              if (payload < 200) {
                wheel.clear();
                wheel.schedule(4000, 200);
                wheel.schedule(6000, 201);
              }
            });
    assertThat(fired).isEqualTo(2);
    assertThat(wheel.size()).isEqualTo(1);
    assertThat(wheel.nextExpiryLowerBound()).isGreaterThan(5000).isLessThanOrEqualTo(6000);
  }

  @Test
  void aHandlerMustNotAdvance() {
    wheel.schedule(10, 1);
    wheel.schedule(10, 2);
    assertThatThrownBy(
            () ->
                wheel.advance(
                    10, ALL, (payload, dueNanos, handle) -> wheel.advance(5, ALL, this::ignore)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("must not advance");
    assertThat(wheel.advance(10, ALL, this::ignore)).isEqualTo(1);
  }

  @Test
  void anExceptionEndsTheAdvanceAndLosesNobodyElse() {
    for (int i = 0; i < 5; i++) {
      wheel.schedule(10, i);
      wheel.schedule(2000, i);
    }
    IllegalStateException broken = new IllegalStateException("broken handler");
    TimerHandler breaking =
        (payload, dueNanos, handle) -> {
          tell(payload, dueNanos);
          wheel.schedule(5, 77);
          throw broken;
        };
    assertThatThrownBy(() -> wheel.advance(5000, ALL, breaking)).isSameAs(broken);
    assertThat(told).hasSize(1);
    assertThat(wheel.size()).isEqualTo(10);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(10);
    assertThat(wheel.advance(1999, ALL, this::ignore)).isEqualTo(5);
    assertThat(wheel.advance(2000, ALL, this::ignore)).isEqualTo(5);
  }

  @Test
  void aMissingHandlerIsNoticedBeforeATimerIsLost() {
    wheel.schedule(10, 1);
    assertThatThrownBy(() -> wheel.advance(10, ALL, missing()))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("handler");
    assertThat(wheel.advance(10, ALL, this::ignore)).isEqualTo(1);
  }

  @Test
  void duringAnAdvanceTheBoundIsTheWheelsTime() {
    wheel.advance(7, ALL, this::ignore);
    wheel.schedule(10, 1);
    wheel.advance(
        10, ALL, (payload, dueNanos, handle) -> told.add("" + wheel.nextExpiryLowerBound()));
    assertThat(told).containsExactly("7");
  }

  @Test
  void everyWaitingTimerIsVisitedWithItsDueTime() {
    wheel.advance(5, ALL, this::ignore);
    wheel.schedule(3, 1);
    wheel.schedule(6, 2);
    long cancelled = wheel.schedule(7, 3);
    wheel.schedule(70_000, 4);
    long last = wheel.schedule(262_148, 5);
    wheel.cancel(cancelled);
    List<Long> handles = new ArrayList<>();
    wheel.forEach(
        (payload, dueNanos, handle) -> {
          tell(payload, dueNanos);
          handles.add(handle);
        });
    assertThat(told).containsExactlyInAnyOrder("1@5", "2@6", "4@70000", "5@262148");
    assertThat(handles).contains(last).allMatch(wheel::cancel);
  }

  @Test
  void aVisitorMayCancelAndSchedule() {
    TimerWheel eager = new TimerWheel(new WheelGeometry(1, 64, 3), 10_000, 0, 0, 1 << 20);
    for (int i = 0; i < 1000; i++) {
      eager.schedule(1 + i, i);
    }
    List<Long> visited = new ArrayList<>();
    eager.forEach(
        (payload, dueNanos, handle) -> {
          if (payload < 1000) {
            visited.add(payload);
            assertThat(eager.cancel(handle)).isTrue();
            eager.schedule(2000 + payload, 1000 + payload);
            assertThat(eager.nextExpiryLowerBound()).isLessThanOrEqualTo(1000);
          }
        });
    assertThat(visited).hasSize(1000).doesNotHaveDuplicates();
    assertThat(eager.size()).isEqualTo(1000);
    assertThat(eager.advance(1999, ALL, this::ignore)).isZero();
    assertThat(eager.advance(2999, ALL, this::ignore)).isEqualTo(1000);
  }

  @Test
  void aVisitorMustNeitherAdvanceNorClear() {
    wheel.schedule(10, 1);
    assertThatThrownBy(
            () -> wheel.forEach((payload, dueNanos, handle) -> wheel.advance(1, 1, this::ignore)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("must not advance");
    assertThatThrownBy(() -> wheel.forEach((payload, dueNanos, handle) -> wheel.clear()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("must not clear");
    wheel.forEach(
        (payload, dueNanos, handle) -> {
          wheel.forEach(this::ignore);
          assertThatThrownBy(wheel::clear).isInstanceOf(IllegalStateException.class);
        });
    assertThat(wheel.advance(10, ALL, this::ignore)).isEqualTo(1);
    wheel.clear();
  }

  private void ignore(long payload, long dueNanos, long handle) {}

  @SuppressWarnings({"NullAway", "DataFlowIssue"})
  private static TimerHandler missing() {
    return null;
  }
}
