package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Started;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The distribution's own smoke test, as its users run it. */
class ComposeSmokeContainersTest {

  private static final long LIMIT_MINUTES = 30;

  /** Under the build's directory, so that what a failed one has kept of its containers stays. */
  private final Path kept = Path.of("target/compose-smoke").toAbsolutePath();

  @Test
  void everythingSurvivesTheKillOfOneContainerOfEachService() throws Exception {
    Distribution slim = Distribution.slim(Files.createDirectories(kept));
    Started test = slim.start(slim.home().resolve("bin/compose-smoke-test"));
    try {
      assertThat(test.process().waitFor(LIMIT_MINUTES, TimeUnit.MINUTES))
          .as("%s", test.read())
          .isTrue();
      assertThat(test.read().exit()).as("%s", test.read()).isZero();
      assertThat(test.read().out()).endsWith("all well\n");
    } finally {
      // It removes its containers when it is told to end.
      test.process().destroy();
      if (!test.process().waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
        test.process().destroyForcibly();
      }
    }
  }
}
