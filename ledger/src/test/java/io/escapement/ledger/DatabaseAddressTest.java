package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class DatabaseAddressTest {

  @Test
  void anAddressIsTakenApart() {
    assertThat(of("jdbc:postgresql://db.example:6432/ledger?sslmode=require&x=a%20b"))
        .isEqualTo(
            new DatabaseAddress(
                "db.example", 6432, "ledger", Map.of("sslmode", "require", "x", "a b")));
    assertThat(of("jdbc:postgresql://[::1]:5433/ledger"))
        .isEqualTo(new DatabaseAddress("[::1]", 5433, "ledger", Map.of()));
    assertThat(of("jdbc:postgresql://[::1]/ledger"))
        .isEqualTo(new DatabaseAddress("[::1]", 5432, "ledger", Map.of()));
  }

  @Test
  void whatIsNotGivenIsWhatTheDriverWouldTake() {
    assertThat(of("jdbc:postgresql:ledger"))
        .isEqualTo(new DatabaseAddress("localhost", 5432, "ledger", Map.of()));
    assertThat(of("jdbc:postgresql://first,second:5433/"))
        .isEqualTo(new DatabaseAddress("first", 5432, "me", Map.of()));
  }

  @Test
  void aPortThatIsNoNumberIsRefusedInOneLine() {
    assertThatThrownBy(() -> of("jdbc:postgresql://host:port/ledger"))
        .isInstanceOf(LedgerUnavailableException.class)
        .hasMessageContaining("ledger.url")
        .hasMessageNotContaining("\n");
  }

  private static DatabaseAddress of(String url) {
    return DatabaseAddress.of(LedgerConfig.of(url, "me", ""));
  }
}
