package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TimerHandoffTest {
  private final TimerWheel wheel = new TimerWheel(WheelGeometry.DEFAULT, 3, 0);
  private final List<String> told = new ArrayList<>();
  private final List<Long> handles = new ArrayList<>();
  private final TimerHandoff.Listener listener =
      new TimerHandoff.Listener() {
        @Override
        public void scheduled(long payload, long handle) {
          told.add("scheduled " + payload);
          handles.add(handle);
        }

        @Override
        public void cancelled(long handle, boolean cancelled) {
          told.add("cancelled " + cancelled);
        }
      };

  @Test
  void commandsAreCarriedOutInOrderAndTheListenerLearnsTheHandles() {
    TimerHandoff handoff = new TimerHandoff(3);
    assertThat(handoff.schedule(5_000_000, 1)).isTrue();
    assertThat(handoff.schedule(6_000_000, 2)).isTrue();
    assertThat(handoff.drainTo(wheel, 10, listener)).isEqualTo(2);
    assertThat(handoff.cancel(handles.get(0))).isTrue();
    assertThat(handoff.cancel(handles.get(0))).isTrue();
    assertThat(handoff.drainTo(wheel, 10, listener)).isEqualTo(2);

    assertThat(told)
        .containsExactly("scheduled 1", "scheduled 2", "cancelled true", "cancelled false");
    List<Long> fired = new ArrayList<>();
    wheel.advance(10_000_000, 10, (payload, dueNanos, handle) -> fired.add(payload));
    assertThat(fired).containsExactly(2L);
  }

  @Test
  void itTellsHowManyCommandsWait() {
    TimerHandoff handoff = new TimerHandoff(3);
    assertThat(handoff.size()).isZero();
    handoff.schedule(5_000_000, 1);
    handoff.schedule(6_000_000, 2);
    assertThat(handoff.size()).isEqualTo(2);
    handoff.drainTo(wheel, 1, listener);
    assertThat(handoff.size()).isEqualTo(1);
  }

  @Test
  void whatTheWheelRefusesTheListenerIsTold() {
    TimerHandoff handoff = new TimerHandoff(4);
    handoff.schedule(Long.MAX_VALUE, 1);
    handoff.drainTo(wheel, 1, listener);
    assertThat(handles).containsExactly(TimerWheel.BEYOND_HORIZON);
    assertThat(wheel.size()).isZero();
  }

  @Test
  void aFullQueueSaysSoAndTakesCommandsAgainOnceDrained() {
    for (int capacity = 1; capacity <= 5; capacity++) {
      TimerHandoff handoff = new TimerHandoff(capacity);
      assertThat(handoff.capacity()).isEqualTo(capacity);
      for (int lap = 0; lap < 4; lap++) {
        for (int i = 0; i < capacity; i++) {
          assertThat(handoff.cancel(0)).isTrue();
        }
        assertThat(handoff.cancel(0)).isFalse();
        assertThat(handoff.schedule(1, 1)).isFalse();
        assertThat(handoff.drainTo(wheel, 1, listener)).isEqualTo(1);
        assertThat(handoff.cancel(0)).isTrue();
        assertThat(handoff.cancel(0)).isFalse();
        assertThat(handoff.drainTo(wheel, capacity + 1, listener)).isEqualTo(capacity);
        assertThat(handoff.drainTo(wheel, 1, listener)).isZero();
      }
    }
  }

  @Test
  void aDrainStopsAtItsLimit() {
    TimerHandoff handoff = new TimerHandoff(3);
    handoff.schedule(1, 1);
    handoff.schedule(1, 2);
    assertThat(handoff.drainTo(wheel, 0, listener)).isZero();
    assertThat(handoff.drainTo(wheel, 1, listener)).isEqualTo(1);
    assertThat(told).containsExactly("scheduled 1");
  }

  @Test
  void capacitiesOutOfBoundsAreRefused() {
    for (int capacity : new int[] {0, -1, TimerHandoff.MAX_CAPACITY + 1, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> new TimerHandoff(capacity))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("capacity must be from 1 to")
          .hasMessageContaining(String.valueOf(capacity));
    }
  }
}
