package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RecordEnvelopeTest {

  @Test
  void keyAndHeadersComeBackAsTheyWere() {
    RecordEnvelope back =
        RecordEnvelope.decode(
            new RecordEnvelope(
                    new byte[] {1, 2},
                    List.of(
                        new RecordEnvelope.Header("ce_id", new byte[] {-1}),
                        new RecordEnvelope.Header("ce_id", null)))
                .encode());
    assertThat(back.key()).containsExactly(1, 2);
    assertThat(back.headers()).extracting(RecordEnvelope.Header::name).containsOnly("ce_id");
    assertThat(back.headers().get(0).value()).containsExactly(-1);
    assertThat(back.headers().get(1).value()).isNull();
  }

  @Test
  void anEnvelopeBeyondItsBoundKeepsNothing() {
    RecordEnvelope huge = new RecordEnvelope(new byte[300_000], List.of());
    assertThat(RecordEnvelope.decode(huge.encode()).key()).isNull();
  }
}
