package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import io.escapement.e2e.Distribution.Started;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the smoke test says where it can't be run. */
class ComposeSmokeEndToEndTest {

  @TempDir private Path scratch;
  private Path bin;

  @BeforeEach
  void aPathOfItsOwn() throws Exception {
    bin = Files.createDirectory(scratch.resolve("bin"));
    script("dirname", "exec /usr/bin/dirname \"$@\"");
  }

  @Test
  void withoutDocker() throws Exception {
    expect("no docker on the PATH; install Docker with Compose");
  }

  @Test
  void withoutAnEngine() throws Exception {
    script("docker", "exit 1");
    expect("no Docker engine answers (docker info); start it, or set DOCKER_HOST");
  }

  @Test
  void withoutCompose() throws Exception {
    script("docker", "[ \"$1\" = info ]");
    expect("no Docker Compose; install the plugin docker-compose-plugin");
  }

  private void expect(String complaint) throws Exception {
    Distribution slim = Distribution.slim(scratch).with("PATH", bin.toString());
    Started test = slim.start(slim.home().resolve("bin/compose-smoke-test"));
    assertThat(test.process().waitFor(Pipeline.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    Result result = test.read();
    assertThat(result.exit()).isEqualTo(2);
    assertThat(result.err()).isEqualTo("compose-smoke-test: " + complaint + "\n");
    assertThat(result.out()).isEmpty();
  }

  private void script(String name, String body) throws Exception {
    Path file = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
