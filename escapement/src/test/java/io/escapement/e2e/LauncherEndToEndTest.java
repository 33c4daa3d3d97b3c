package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import io.escapement.e2e.Distribution.Started;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LauncherEndToEndTest {

  /** What the launcher itself calls. */
  private static final List<String> TOOLS = List.of("readlink", "dirname", "sed", "stty");

  @TempDir private Path scratch;
  private Distribution escapement;

  @BeforeEach
  void assembled() {
    escapement = Distribution.full(scratch);
  }

  @Test
  void itSaysItsVersionWithTheJavaThatItFound() throws Exception {
    Result result = escapement.run("--version");
    assertThat(result.exit()).isZero();
    assertThat(result.out()).contains("escapement 0.").containsPattern("Java (2[1-9]|[3-9]\\d)");
    assertThat(result.err()).isEmpty();
  }

  @Test
  void anOldJavaInJavaHomeIsPassedOver() throws Exception {
    escapement.with("JAVA_HOME", fakeJava("17.0.2").toString());
    assertThat(escapement.run("--version").out()).contains("Java ").doesNotContain("17.0.2");
  }

  @Test
  void aNewJavaInJavaHomeComesFirst() throws Exception {
    Path home = fakeJava("99.0.1");
    escapement.with("JAVA_HOME", home.toString());
    assertThat(escapement.run("--version").out()).startsWith("the fake Java was started");
  }

  @Test
  void aJavaWithoutReleaseFileIsAskedForItsVersion() throws Exception {
    Path home = fakeJava("99.0.1");
    Files.delete(home.resolve("release"));
    escapement.with("JAVA_HOME", home.toString());
    assertThat(escapement.run("--version").out()).startsWith("the fake Java was started");
  }

  @Test
  void withoutAJavaItSaysWhatIsMissing() throws Exception {
    Path bin = Files.createDirectories(scratch.resolve("bin"));
    for (String tool : TOOLS) {
      script(bin.resolve(tool), "exec " + whereIs(tool) + " \"$@\"");
    }
    Files.createSymbolicLink(bin.resolve("java"), fakeJava("17.0.2").resolve("bin/java"));
    // The usual places can't be emptied, but a copy can look at others.
    Path copy = copyOfLauncher();
    Files.writeString(
        copy, Files.readString(copy).replaceAll("/usr/lib/jvm/\\*|/opt/\\*", "/nonexistent/*"));
    escapement
        .with("PATH", bin.toString())
        .with("JAVA_HOME", "/nonexistent")
        .with("HOME", scratch.toString());
    Result result = toEnd(escapement.start(copy, "--version"));
    assertThat(result.exit()).isEqualTo(2);
    assertThat(result.err())
        .isEqualTo(
            "escapement: no Java 21 or newer found (looked at JAVA_HOME, the PATH and the usual"
                + " places); install one, a Temurin 25 JDK or JRE for example, or point JAVA_HOME to"
                + " it\n");
  }

  @Test
  void itWorksThroughLinksAndFromPathsWithSpaces() throws Exception {
    Path spaced = Files.createDirectories(scratch.resolve("a place with spaces"));
    Path moved = spaced.resolve("escapement home");
    Files.createSymbolicLink(moved, escapement.home());
    Path link = Files.createSymbolicLink(spaced.resolve("esc"), moved.resolve("bin/escapement"));
    Path relative = Files.createSymbolicLink(scratch.resolve("esc2"), scratch.relativize(link));
    assertThat(toEnd(escapement.start(relative, "--version")).out()).startsWith("escapement 0.");

    Path copy = Files.createDirectories(spaced.resolve("copied home/bin")).resolve("escapement");
    Files.copy(escapement.home().resolve("bin/escapement"), copy);
    for (String jars : List.of("app", "lib")) {
      Files.createSymbolicLink(
          spaced.resolve("copied home").resolve(jars), escapement.home().resolve(jars));
    }
    assertThat(toEnd(escapement.start(copy, "--version")).out()).startsWith("escapement 0.");
  }

  /** A Java that only says that it was started, or its version. */
  private Path fakeJava(String version) throws IOException {
    Path home = scratch.resolve("java-" + version);
    Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    script(
        java,
        "[ \"$1\" = -version ] && echo 'openjdk version \""
            + version
            + "\"' >&2 && exit\necho the fake Java was started");
    return home;
  }

  private static void script(Path file, String body) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Path copyOfLauncher() throws IOException {
    Path copy = Files.createDirectories(scratch.resolve("copy/bin")).resolve("escapement");
    return Files.copy(escapement.home().resolve("bin/escapement"), copy);
  }

  private static Result toEnd(Started started) throws Exception {
    assertThat(started.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
    return started.read();
  }

  private static Path whereIs(String tool) {
    return List.of("/bin", "/usr/bin").stream()
        .map(directory -> Path.of(directory, tool))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow();
  }
}
