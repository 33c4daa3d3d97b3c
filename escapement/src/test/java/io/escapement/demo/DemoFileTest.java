package io.escapement.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.submit.RequestLines;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** To write the file anew: {@code mvn -pl escapement -am test -Ddemo.file.write=true}. */
class DemoFileTest {

  private static final Path FILE = Path.of("src", "main", "dist", "examples", "demo.jsonl");

  @Test
  void theShippedFileIsTheOneThatTheGeneratorMakes() throws Exception {
    List<String> lines = DemoFile.lines();
    if (Boolean.getBoolean("demo.file.write")) {
      Files.write(FILE, lines);
    }
    assertThat(Files.readAllLines(FILE)).isEqualTo(lines);
    assertThat(lines).hasSizeBetween(1_900, 2_100);
  }

  @Test
  void submitTakesTheShippedFileAsItIs() {
    assertThat(new RequestLines(FILE).check()).isEqualTo(DemoFile.lines().size());
  }

  @Test
  void someLinesRepeatAndSomeContradictAnEarlierOne() {
    List<String> lines = DemoFile.lines();
    List<String> distinct = lines.stream().distinct().toList();
    assertThat(lines.size() - distinct.size()).isBetween(60, 70);
    assertThat(distinct.stream().filter(line -> line.contains("\"note\":\"not ")).count())
        .isBetween(30L, 40L);
  }
}
