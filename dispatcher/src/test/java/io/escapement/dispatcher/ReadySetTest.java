package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReadySetTest {

  private final ReadySet ready = new ReadySet();

  @Test
  void aTenantsTasksComeInDueOrder() {
    ready.add(3, "a", 30);
    ready.add(1, "a", 10);
    ready.add(2, "a", 20);
    assertThat(drain(3)).containsExactly(1L, 2L, 3L);
    assertThat(ready.poll()).isNull();
  }

  @Test
  void aBacklogDelaysAnotherTenantByItsShareAndNotByItsLength() {
    for (long task = 0; task < 1_000; task++) {
      ready.add(task, "big", task);
    }
    ready.add(5_000, "small", 1_000_000);
    ready.add(5_001, "small", 1_000_000);
    assertThat(drain(4)).contains(5_000L, 5_001L);
  }

  @Test
  void aTenantWithThreeTimesTheWeightIsServedThreeTimesAsOften() {
    ready.weigh(Map.of("heavy", 3));
    for (long task = 0; task < 400; task++) {
      ready.add(task, "heavy", task);
      ready.add(1_000 + task, "light", task);
    }
    assertThat(drain(400)).filteredOn(task -> task < 1_000).hasSize(300);
  }

  private List<Long> drain(int most) {
    List<Long> taken = new ArrayList<>();
    while (taken.size() < most) {
      Long task = ready.poll();
      if (task == null) {
        break;
      }
      taken.add(task);
    }
    return taken;
  }
}
