package io.escapement.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SuggestionTest {

  @Test
  void lettersLostAddedChangedOrSwappedAreOneStepEach() {
    assertThat(Suggestion.distance("ledger", "leger")).isEqualTo(1);
    assertThat(Suggestion.distance("ledger", "leddger")).isEqualTo(1);
    assertThat(Suggestion.distance("ledger", "ledgar")).isEqualTo(1);
    assertThat(Suggestion.distance("ledger", "ledgre")).isEqualTo(1);
    assertThat(Suggestion.distance("", "abc")).isEqualTo(3);
  }

  @Test
  void onlyWhatIsNearIsSuggested() {
    List<String> known = List.of("status", "submit", "up");
    assertThat(Suggestion.nearest("statu", known)).contains("status");
    assertThat(Suggestion.nearest("sumbit", known)).contains("submit");
    assertThat(Suggestion.nearest("frobnicate", known)).isEmpty();
  }
}
