package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LsnTest {

  @Test
  void isWrittenAsPostgresWritesIt() {
    assertThat(Lsn.parse("0/16B3748").toString()).isEqualTo("0/16B3748");
    assertThat(Lsn.parse("FFFFFFFF/0").toString()).isEqualTo("FFFFFFFF/0");
    assertThat(Lsn.parse("1/00000001").value()).isEqualTo((1L << 32) + 1);
  }

  @Test
  void isOrderedAsPostgresOrdersIt() {
    assertThat(Lsn.parse("1/0")).isGreaterThan(Lsn.parse("0/FFFFFFFF"));
    assertThat(Lsn.parse("FFFFFFFF/0")).as("beyond a signed long").isGreaterThan(Lsn.parse("1/0"));
    assertThat(Lsn.parse("1/0").bytesSince(Lsn.parse("0/FFFFFFF0"))).isEqualTo(16);
  }

  @Test
  void nothingElseIsAPosition() {
    assertThatThrownBy(() -> Lsn.parse("42")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Lsn.parse("x/y")).isInstanceOf(IllegalArgumentException.class);
  }
}
