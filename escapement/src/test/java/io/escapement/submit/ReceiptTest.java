package io.escapement.submit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.Decision;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ReceiptTest {

  @Test
  void aRequestsReceiptIsRead() throws IOException {
    assertThat(
            Receipt.read(
                "e.requests",
                bytes(
                    "{'decision':'tenant_full','topic':'e.requests','partition':3,'offset':42,"
                        + "'kind':'work','tasks':[],'retryAfterMs':5}")))
        .contains(
            new Receipt(
                new Receipt.Coordinates("e.requests", 3, 42), "work", Decision.TENANT_FULL, null));
  }

  @Test
  void receiptsOfCommandsAndOfOtherTopicsAreNobodysHere() throws IOException {
    assertThat(
            Receipt.read(
                "e.requests",
                bytes(
                    "{'decision':'executed','topic':'e.commands','partition':0,'offset':1,"
                        + "'command':'pause','results':[{'target':'x','result':'PAUSED'}]}")))
        .isEmpty();
    assertThat(
            Receipt.read(
                "e.requests",
                bytes(
                    "{'decision':'accepted','topic':'e.requests.acme','partition':0,'offset':1,"
                        + "'tasks':[]}")))
        .isEmpty();
  }

  @Test
  void whatIsNoReceiptIsSaid() {
    assertThatThrownBy(() -> Receipt.read("e.requests", bytes("{'topic':'e.requests'}")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not a receipt");
  }

  private static byte[] bytes(String json) {
    return json.replace('\'', '"').getBytes(UTF_8);
  }
}
