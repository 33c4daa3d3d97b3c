package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Started;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution's own smoke test, as its users run it. */
class ComposeSmokeContainersTest {

  private static final long LIMIT_MINUTES = 20;

  @TempDir private Path scratch;

  @Test
  void everythingSurvivesTheKillOfOneContainerOfEachService() throws Exception {
    Distribution slim = Distribution.slim(scratch);
    Started test = slim.start(slim.home().resolve("bin/compose-smoke-test"));
    assertThat(test.process().waitFor(LIMIT_MINUTES, TimeUnit.MINUTES))
        .as("%s", test.read())
        .isTrue();
    assertThat(test.read().exit()).as("%s", test.read()).isZero();
    assertThat(test.read().out()).endsWith("all well\n");
  }
}
