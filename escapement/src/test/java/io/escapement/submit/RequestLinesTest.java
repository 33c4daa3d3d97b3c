package io.escapement.submit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.assembly.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestLinesTest {

  @TempDir private Path directory;

  @Test
  void linesComeWithTheirNumbersAndEmptyOnesAreSkipped() throws Exception {
    RequestLines lines = of("{\"a\":1}\r\n\n{\"b\":2}");
    List<String> seen = new ArrayList<>();
    lines.forEach(line -> seen.add(line.number() + " " + new String(line.value(), UTF_8)));
    assertThat(seen).containsExactly("1 {\"a\":1}", "3 {\"b\":2}");
    assertThat(lines.check()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"no JSON", "[1]", "\"text\"", "{\"a\":1} more", "{\"a\":"})
  void aLineThatIsNotAnObjectIsRefusedByItsNumber(String line) throws Exception {
    RequestLines lines = of("{}\n" + line + "\n{}\n");
    assertThatThrownBy(lines::check)
        .isInstanceOf(CommandFailure.class)
        .hasMessageStartingWith(directory.resolve("lines") + ":2: not ")
        .extracting(e -> ((CommandFailure) e).isWrongUse())
        .isEqualTo(true);
  }

  @Test
  void requestsOfOneIdentityHaveOneKey() {
    assertThat(key("{\"source\":\"/a\",\"id\":\"1\",\"data\":1}")).isEqualTo("/a|1");
    assertThat(key("{\"id\":\"1\",\"source\":\"/a\",\"data\":2}")).isEqualTo("/a|1");
    assertThat(new RequestLines.Line(1, "{\"id\":1}".getBytes(UTF_8)).key()).isNull();
    assertThat(new RequestLines.Line(1, "garbage".getBytes(UTF_8)).key()).isNull();
  }

  private RequestLines of(String content) throws IOException {
    return new RequestLines(Files.writeString(directory.resolve("lines"), content));
  }

  private static String key(String line) {
    byte[] key = new RequestLines.Line(1, line.getBytes(UTF_8)).key();
    assertThat(key).isNotNull();
    return key == null ? "" : new String(key, UTF_8);
  }
}
