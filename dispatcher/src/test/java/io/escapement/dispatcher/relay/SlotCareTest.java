package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.Lsn;
import io.escapement.ledger.ServerIdentity;
import io.escapement.ledger.SlotState;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SlotCareTest {

  private static final ServerIdentity SERVER = new ServerIdentity("7412", 3);
  private static final RelayPosition POSITION = new RelayPosition(SERVER, Lsn.parse("1/200"), 1);

  @Test
  void aSlotThatConfirmsNoMoreThanWasRelayedIsWhole() {
    assertThat(SlotCare.lost(slot("1/200", null), POSITION, SERVER)).isEmpty();
    assertThat(SlotCare.lost(slot("0/900", null), POSITION, SERVER)).isEmpty();
  }

  @Test
  void aSlotThatIsMissingOrInvalidatedIsLost() {
    assertThat(SlotCare.lost(Optional.empty(), POSITION, SERVER)).contains("it does not exist");
    assertThat(SlotCare.lost(slot("1/200", "its WAL has been removed"), POSITION, SERVER))
        .contains("its WAL has been removed");
  }

  @Test
  void aSlotThatBeginsAfterWhatWasRelayedIsLost() {
    assertThat(SlotCare.lost(slot("1/201", null), POSITION, SERVER)).isPresent();
  }

  @Test
  void anotherServerOrTimelineIsALostSlotEvenIfThereIsOneOfThatName() {
    Optional<SlotState> slot = slot("0/900", null);
    assertThat(SlotCare.lost(slot, POSITION, new ServerIdentity("7413", 3))).isPresent();
    assertThat(SlotCare.lost(slot, POSITION, new ServerIdentity("7412", 4)))
        .contains("the server is on timeline 4, the position on 3");
  }

  @Test
  void aPositionIsReadAsItWasWritten() {
    assertThat(RelayPosition.fromJson(POSITION.toJson())).isEqualTo(POSITION);
    assertThat(POSITION.covers(Lsn.parse("1/200"))).isTrue();
    assertThat(POSITION.covers(Lsn.parse("1/201"))).isFalse();
  }

  private static Optional<SlotState> slot(
      String confirmed, @org.jspecify.annotations.Nullable String unusable) {
    return Optional.of(new SlotState(Lsn.parse(confirmed), Lsn.parse("2/0"), 0, 0, unusable));
  }
}
