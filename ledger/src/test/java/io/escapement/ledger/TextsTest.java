package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TextsTest {

  @Test
  void whatPostgresCannotStoreIsReplaced() {
    assertThat(Texts.storable("a\0b\uD800c\uDC00", 100)).isEqualTo("a\uFFFDb\uFFFDc\uFFFD");
    assertThat(Texts.storable("\uD83D\uDE00", 100)).isEqualTo("\uD83D\uDE00");
    assertThat(Texts.storable(null, 100)).isNull();
  }

  @Test
  void whatIsTooLongIsCutWithAMarkAndNeverInsideACharacter() {
    String cut = Texts.storable("\u20AC".repeat(1_000), 50);
    assertThat(cut).endsWith("[…]").startsWith("\u20AC");
    assertThat(String.valueOf(cut).getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(50);
    assertThat(Texts.storable("x".repeat(50), 50)).isEqualTo("x".repeat(50));
    assertThat(Texts.storable("x".repeat(51), 50)).hasSizeLessThanOrEqualTo(50).endsWith("[…]");
  }
}
