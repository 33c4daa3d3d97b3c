package io.escapement.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** To write both files anew: {@code mvn -pl escapement -am test -Dconfig.docs.write=true}. */
class ConfigDocsTest {

  private static final Path DOCUMENT = Path.of("..", "docs", "configuration.md");
  private static final Path EXAMPLE =
      Path.of("src", "main", "dist", "conf", "escapement.properties");

  @Test
  void theDocumentedSettingsAreTheOnesThereAre() throws Exception {
    compare(DOCUMENT, ConfigDocs.renewed(Files.readString(DOCUMENT)));
  }

  @Test
  void theExampleFileShowsEverySettingWithItsDefault() throws Exception {
    compare(EXAMPLE, ConfigDocs.exampleFile());
  }

  @Test
  void theExampleFileCanBeUncommentedAsItIs(@TempDir Path directory) throws Exception {
    String uncommented =
        ConfigDocs.exampleFile()
            .lines()
            .map(line -> line.replaceFirst("^#(?=[a-z])", ""))
            .reduce("", (all, line) -> all + line + "\n");
    Path file = Files.writeString(directory.resolve("all.properties"), uncommented);
    Config config = ConfigLoader.load(Optional.of(file), Map.of(), List.of());
    assertThat(config.kafkaClient()).containsEntry("security.protocol", "SSL");
    for (Key key : Key.values()) {
      assertThat(config.said(key)).isEqualTo(key.key() + " (from " + file + ")");
    }
  }

  private static void compare(Path file, String expected) throws IOException {
    if (Boolean.getBoolean("config.docs.write")) {
      Files.writeString(file, expected);
    }
    assertThat(file).hasContent(expected);
  }
}
