package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BreakersTest {

  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration LONG = Duration.ofHours(1);
  private static final Lane MAIL = new Lane("kind", "mail");

  @Test
  void whatFailsHalfOfTheTimeIsLeftAloneAndOthersAreNot() {
    Breakers breakers = new Breakers(new Outages(4, LONG));
    for (int i = 0; i < 2; i++) {
      taken(breakers, "mail").succeeded(1);
      taken(breakers, "mail").failed(1);
    }
    assertThat(breakers.pass("mail", "")).isNull();
    assertThat(breakers.pass("push", "")).isNotNull();
    assertThat(breakers.pass("mail", "http://elsewhere")).isNotNull();
    assertThat(breakers.open()).containsExactly("mail");
    assertThat(breakers.left("mail", "")).isBetween(LONG.minusMinutes(1), LONG);
  }

  @Test
  void fewerFailuresThanHalfAreNoOutage() {
    Breakers breakers = new Breakers(new Outages(4, LONG));
    taken(breakers, "mail").failed(1);
    for (int i = 0; i < 3; i++) {
      taken(breakers, "mail").succeeded(1);
    }
    assertThat(breakers.pass("mail", "")).isNotNull();
  }

  @Test
  void aFewCallsTryItAgainAndOneThatWasNotUsedIsAnothers() {
    Breakers breakers = opened();
    await().until(() -> breakers.pass("mail", ""), Objects::nonNull).unused();
    List<Breakers.Pass> probes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      probes.add(taken(breakers, "mail"));
    }
    assertThat(breakers.pass("mail", "")).as("no more than three").isNull();
    probes.get(0).unused();
    probes.set(0, taken(breakers, "mail"));
    probes.forEach(probe -> probe.succeeded(1));
    assertThat(breakers.open()).isEmpty();
    assertThat(breakers.pass("mail", "")).isNotNull();
  }

  @Test
  void anOutageThatLastsIsLeftAloneForLonger() {
    Breakers breakers = opened();
    for (int again = 0; again < 3; again++) {
      await().until(() -> breakers.pass("mail", ""), Objects::nonNull).failed(1);
      taken(breakers, "mail").failed(1);
      taken(breakers, "mail").failed(1);
    }
    assertThat(breakers.left("mail", "")).isGreaterThan(PAUSE.multipliedBy(4));
  }

  @Test
  void aPermitThatIsAnnulledGivesItsPassBack() {
    Breakers breakers = opened();
    Throttle throttle = new Throttle(LaneLimits.NONE, Set.of("mail"), breakers, 0);
    Throttle.Permit first =
        await().until(() -> throttle.take(MAIL, System.nanoTime()), Objects::nonNull);
    List<Throttle.Permit> others = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      others.add(Objects.requireNonNull(throttle.take(MAIL, System.nanoTime())));
    }
    assertThat(throttle.take(MAIL, System.nanoTime())).isNull();
    first.annul();
    assertThat(throttle.take(MAIL, System.nanoTime())).isNotNull();
    others.get(0).giveBack();
    assertThat(throttle.take(MAIL, System.nanoTime()))
        .as("the control: a call that ended has still to say how it went")
        .isNull();
    assertThat(others.get(1).pass()).isNotNull();
  }

  @Test
  void aLaneThatIsLeftAloneIsNotLookedAtAllTheTime() {
    Throttle throttle =
        new Throttle(new LaneLimits(Map.of(), Map.of()), Set.of("mail"), openedFor(LONG), 0);
    assertThat(throttle.take(MAIL, 1_000)).isNull();
    assertThat(throttle.nextNanos(MAIL, 1_000)).isGreaterThan(50_000_000);
  }

  @Test
  void withoutCareForOutagesEveryCallMayGo() {
    Breakers breakers = new Breakers(Outages.IGNORED);
    for (int i = 0; i < 100; i++) {
      taken(breakers, "mail").failed(1);
    }
    assertThat(breakers.open()).isEmpty();
  }

  @Test
  void destinationsAreForgottenWhenThereAreTooMany() {
    Breakers breakers = openedFor(LONG);
    for (int i = 0; i < Breakers.MOST + 10; i++) {
      taken(breakers, "hook", "http://host" + i).succeeded(1);
    }
    assertThat(breakers.size()).isLessThanOrEqualTo(Breakers.MOST);
    assertThat(breakers.open()).as("what fails is remembered").containsExactly("mail");
  }

  private static Breakers opened() {
    return openedFor(PAUSE);
  }

  private static Breakers openedFor(Duration pause) {
    Breakers breakers = new Breakers(new Outages(4, pause));
    for (int i = 0; i < 4; i++) {
      taken(breakers, "mail").failed(1);
    }
    return breakers;
  }

  private static Breakers.Pass taken(Breakers breakers, String channel) {
    return taken(breakers, channel, "");
  }

  private static Breakers.Pass taken(Breakers breakers, String channel, String destination) {
    Breakers.@Nullable Pass pass = breakers.pass(channel, destination);
    return Objects.requireNonNull(pass);
  }
}
