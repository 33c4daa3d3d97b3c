package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TaskTest {

  private static final String STRUCTURED = "application/cloudevents+json; charset=utf-8";

  @Test
  void inBinaryModeTheDataIsTheValue() {
    assertThat(data("application/json", "{\"a\":1}")).isEqualTo("{\"a\":1}");
    assertThat(data(null, "raw")).isEqualTo("raw");
  }

  @Test
  void inStructuredModeTheDataIsTakenOut() {
    assertThat(data(STRUCTURED, "{\"id\":\"1\",\"data\":{\"b\":2,\"a\":1}}"))
        .isEqualTo("{\"b\":2,\"a\":1}");
    assertThat(data(STRUCTURED, "{\"data\":\"text\"}")).isEqualTo("text");
    assertThat(data(STRUCTURED, "{\"data_base64\":\"aGVsbG8=\"}")).isEqualTo("hello");
    assertThat(data(STRUCTURED, "{\"id\":\"1\"}")).isEmpty();
  }

  @Test
  void aValueThatIsNotTheJsonItWasAdmittedAsIsRefused() {
    assertThatThrownBy(() -> data(STRUCTURED, "{")).isInstanceOf(IllegalArgumentException.class);
  }

  private static String data(@Nullable String contentType, String value) {
    Task task =
        new Task(
            1,
            1,
            0,
            "tenant",
            "kind",
            "/source",
            "id",
            null,
            Instant.EPOCH,
            Instant.EPOCH,
            "key",
            contentType,
            value.getBytes(StandardCharsets.UTF_8));
    return new String(task.data(), StandardCharsets.UTF_8);
  }
}
