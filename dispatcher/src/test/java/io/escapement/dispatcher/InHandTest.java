package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class InHandTest {

  private final InHand inHand = new InHand(10, held -> {});

  @Test
  void noMoreIsReservedThanThereIsRoomFor() {
    assertThat(inHand.reserve(7)).isEqualTo(7);
    assertThat(inHand.reserve(7)).isEqualTo(3);
    assertThat(inHand.reserve(1)).isZero();
    inHand.unreserve(2);
    assertThat(inHand.reserve(5)).isEqualTo(2);
  }

  @Test
  void itIsEmptyOnlyWhenNothingIsReserved() throws InterruptedException {
    assertThat(inHand.awaitEmpty(Duration.ZERO)).isTrue();
    inHand.reserve(1);
    assertThat(inHand.awaitEmpty(Duration.ZERO)).isFalse();
    inHand.unreserve(1);
    assertThat(inHand.awaitEmpty(Duration.ZERO)).isTrue();
  }
}
