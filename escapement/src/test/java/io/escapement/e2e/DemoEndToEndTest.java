package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoEndToEndTest {

  @TempDir private Path scratch;

  @Test
  void theDemoKeepsItsPromisesAndLeavesNothingBehind() throws Exception {
    Path temporary = Files.createDirectories(scratch.resolve("tmp"));
    Distribution escapement =
        Distribution.full(scratch).with("ESCAPEMENT_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary);

    Result demo = escapement.run("demo");

    assertThat(demo.exit()).as(demo.toString()).isZero();
    assertThat(demo.err()).isEmpty();
    assertThat(demo.out())
        .contains("Every accepted task was done with exactly one effect")
        .contains("audit      nothing found")
        .containsPattern("accepted +\\d{4} ")
        .containsPattern("replay +\\d+ ")
        .containsPattern("conflict +\\d+ ")
        .containsPattern("invalid +\\d+ ")
        .containsPattern("tenant_full +\\d+ ")
        .containsPattern("lateness   p50 \\d+ ms, p99 \\d+ ms, max \\d+ ms")
        .contains("Try next:");
    // Not a terminal: nothing is redrawn.
    assertThat(demo.out()).doesNotContain("\u001b");
    try (var left = Files.list(temporary)) {
      List<String> names = left.map(path -> path.getFileName().toString()).toList();
      assertThat(names).noneMatch(name -> name.startsWith("escapement-demo"));
    }
  }
}
