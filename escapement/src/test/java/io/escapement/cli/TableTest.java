package io.escapement.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TableTest {

  @Test
  void columnsAreAsWideAsTheirWidestCell() {
    assertThat(new Table("name", "n").row("long name", 1).row("x", 1234).lines())
        .containsExactly("  name          n", "  long name     1", "  x          1234");
  }

  @Test
  void aRowThatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> new Table("name", "n").row("only one"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
