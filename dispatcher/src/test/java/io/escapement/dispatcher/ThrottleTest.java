package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.Lane;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ThrottleTest {

  private static final Lane MAIL = new Lane("mail.send", "smtp");
  private static final Lane PUSH = new Lane("push.send", "smtp");
  private static final Lane FREE = new Lane("report", "local");

  @Test
  void noMoreOfAKindRunAtOnceThanItsLimitAndOthersAreNotLimited() {
    Throttle throttle = throttle(Map.of("mail.send", LaneLimit.ofConcurrency(2)), Map.of());
    Throttle.Permit first = taken(throttle, MAIL);
    assertThat(throttle.take(MAIL, 0)).isNotNull();
    assertThat(throttle.take(MAIL, 0)).isNull();
    assertThat(throttle.nextNanos(MAIL, 0)).isEqualTo(Long.MAX_VALUE);
    assertThat(throttle.take(FREE, 0)).isNotNull();
    first.giveBack();
    first.giveBack();
    assertThat(throttle.take(MAIL, 0)).isNotNull();
    assertThat(throttle.take(MAIL, 0)).as("given back twice counts once").isNull();
  }

  @Test
  void aChannelsLimitIsSharedByItsKinds() {
    Throttle throttle = throttle(Map.of(), Map.of("smtp", LaneLimit.ofConcurrency(1)));
    assertThat(throttle.take(MAIL, 0)).isNotNull();
    assertThat(throttle.take(PUSH, 0)).isNull();
  }

  @Test
  void aTaskThatOneLimitRefusesUsesNothingOfTheOther() {
    Throttle throttle =
        throttle(
            Map.of("mail.send", new LaneLimit(9, 1)), Map.of("smtp", LaneLimit.ofConcurrency(1)));
    Throttle.Permit push = taken(throttle, PUSH);
    assertThat(throttle.take(MAIL, 0)).isNull();
    push.giveBack();
    assertThat(throttle.take(MAIL, 0)).as("its token is still there").isNotNull();
  }

  @Test
  void aRateHoldsOverTimeAndASecondsWorthMayStartTogether() {
    Throttle throttle = throttle(Map.of("mail.send", new LaneLimit(10_000, 5)), Map.of());
    int started = 0;
    for (long ms = 0; ms < 10_000; ms++) {
      if (throttle.take(MAIL, TimeUnit.MILLISECONDS.toNanos(ms)) != null) {
        started++;
      }
    }
    assertThat(started).isBetween(5 + 45, 5 + 50);
    long now = TimeUnit.SECONDS.toNanos(10);
    while (throttle.take(MAIL, now) != null) {
      started++;
    }
    long next = throttle.nextNanos(MAIL, now);
    assertThat(next)
        .isGreaterThan(now)
        .isLessThanOrEqualTo(now + TimeUnit.MILLISECONDS.toNanos(200));
    assertThat(throttle.take(MAIL, next - 1_000_000)).isNull();
    assertThat(throttle.take(MAIL, next)).isNotNull();
  }

  @Test
  void aTaskThatDidNotStartCostsNoToken() {
    Throttle throttle = throttle(Map.of("mail.send", new LaneLimit(10, 1)), Map.of());
    Throttle.Permit permit = taken(throttle, MAIL);
    permit.annul();
    permit.annul();
    assertThat(throttle.take(MAIL, 0)).isNotNull();
    assertThat(throttle.take(MAIL, 0)).isNull();
  }

  @Test
  void limitsOfNothingAreRefused() {
    assertThatThrownBy(() -> LaneLimit.ofConcurrency(0)).hasMessageContaining("at least 1");
    assertThatThrownBy(() -> new LaneLimit(1, 0)).hasMessageContaining("above 0");
    assertThatThrownBy(() -> new LaneLimit(1, Double.NaN)).hasMessageContaining("above 0");
  }

  @Test
  void aLaneWaitsForItsKindUnlessItsChannelIsWhatIsAtItsLimit() {
    Lane lane = new Lane("kind", "channel");
    Throttle byKind = throttle(Map.of("kind", LaneLimit.ofConcurrency(1)), Map.of());
    assertThat(byKind.isHeldByKind(lane, 0)).as("nothing else can hold it").isTrue();
    Throttle both =
        throttle(
            Map.of("kind", LaneLimit.ofConcurrency(2)),
            Map.of("channel", LaneLimit.ofConcurrency(1)));
    taken(both, lane);
    assertThat(both.isHeldByKind(lane, 0)).isFalse();
    Throttle byChannel = throttle(Map.of(), Map.of("channel", LaneLimit.ofConcurrency(1)));
    assertThat(byChannel.isHeldByKind(lane, 0)).isFalse();
  }

  @Test
  void whoeverWaitsForALimitIsToldThatAPermitIsBack() {
    Lane lane = new Lane("kind", "channel");
    Throttle throttle = throttle(Map.of("kind", LaneLimit.ofConcurrency(1)), Map.of());
    AtomicInteger told = new AtomicInteger();
    throttle.whenBack(told::incrementAndGet);
    taken(throttle, lane).giveBack();
    taken(throttle, lane).annul();
    assertThat(told).hasValue(2);
  }

  private static Throttle.Permit taken(Throttle throttle, Lane lane) {
    return Objects.requireNonNull(throttle.take(lane, 0));
  }

  private static Throttle throttle(Map<String, LaneLimit> kinds, Map<String, LaneLimit> channels) {
    return new Throttle(
        new LaneLimits(kinds, channels), Set.of(), new Breakers(Outages.IGNORED), 0);
  }
}
