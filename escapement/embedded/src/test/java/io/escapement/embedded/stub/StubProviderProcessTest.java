package io.escapement.embedded.stub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The stub as a process, and the client for it. */
class StubProviderProcessTest {

  @Test
  void aTestScriptsCountsAndForgetsThroughItsClient() throws Exception {
    try (StubProcess stub = StubProcess.start();
        Caller caller = new Caller(stub.url().toString())) {
      stub.script("a b/c+", List.of("refuse"), List.of("fail"));
      assertThat(caller.call("a b/c+").statusCode()).isEqualTo(503);
      assertThat(caller.query("a%20b%2Fc+").statusCode()).isEqualTo(500);
      assertThat(caller.call("a b/c+").statusCode()).isEqualTo(202);
      stub.forget();
      assertThat(caller.call("a b/c+").statusCode()).isEqualTo(202);
      StubCounts counts = stub.counts("a b/c+");
      assertThat(counts).isEqualTo(new StubCounts(3, 1, 2, 0, counts.bodySha256()));
      assertThat(counts.bodySha256()).hasSize(64);
      assertThat(stub.counts("never")).isEqualTo(new StubCounts(0, 0, 0, 0, null));
      stub.defaultScript(List.of("reject"), List.of());
      assertThat(caller.call("new").statusCode()).isEqualTo(400);
      assertThat(stub.all()).containsOnlyKeys("a b/c+", "new");
      assertThat(stub.unauthorized()).isZero();
      stub.reset();
      assertThat(stub.all()).isEmpty();
    }
  }

  @Test
  void thousandsOfScriptsAreSetAndCountedAtOnce() throws Exception {
    Map<String, StubScript> scripts = new HashMap<>();
    for (int i = 0; i < 25_000; i++) {
      scripts.put("r" + i, StubScript.calls("refuse", "accept-hang"));
    }
    try (StubProcess stub = StubProcess.start();
        Caller caller = new Caller(stub.url().toString())) {
      stub.scripts(scripts);
      assertThat(caller.call("r24999").statusCode()).isEqualTo(503);
      assertThat(stub.all()).hasSize(25_000).containsKeys("r0", "r12345");
    }
  }

  @Test
  void aBadScriptIsToldInTheStubsWords() {
    try (StubProcess stub = StubProcess.start()) {
      assertThatThrownBy(() -> stub.script("a", List.of("explode"), List.of()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("there is no call step 'explode'; there are: accept, ");
    }
  }

  @Test
  void itsEndIsTheEndOfTheProcess() {
    StubProcess stub = StubProcess.start();
    ProcessHandle process = stub.handle();
    stub.close();
    assertThat(process.isAlive()).isFalse();
  }

  @Test
  void itEndsWithZeroAtSigterm() throws Exception {
    Process stub = stubMain("--port", "0");
    try (BufferedReader out = stub.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).matches("stub-provider listening on http://127\\.0\\.0\\.1:\\d+");
      stub.destroy();
      assertThat(stub.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(stub.exitValue()).isZero();
    } finally {
      stub.destroyForcibly();
    }
  }

  @Test
  void aTakenPortAndBadArgumentsAreOneLineAndAnExitCode() throws Exception {
    try (StubProvider other = StubProvider.start(StubProvider.Config.ephemeral())) {
      String port = Integer.toString(other.port());
      assertThat(complaint(1, "--port", port))
          .startsWith("stub-provider: --port: can't listen on 127.0.0.1:" + port)
          .endsWith("; choose another with --port, 0 for any free one");
    }
    assertThat(complaint(2, "--port", "many"))
        .isEqualTo("stub-provider: --port is 'many'; write a whole number");
    assertThat(complaint(2, "--port")).isEqualTo("stub-provider: --port needs a value");
    assertThat(complaint(2, "--prot", "1")).contains("unknown argument --prot");
  }

  @Test
  void argumentsThatCannotBeUsedAreToldInOneLine() {
    assertThatThrownBy(() -> StubProvider.start(new StubProvider.Config("127.0.0.1", 65_536, null)))
        .isInstanceOf(StubStartException.class)
        .hasMessage("--port is 65536; it is 0, for any free one, to 65535");
    assertThatThrownBy(() -> StubProvider.start(new StubProvider.Config("192.0.2.1", 0, null)))
        .isInstanceOf(StubStartException.class)
        .hasMessage("--host: 192.0.2.1 is no address of this machine");
  }

  /** Starts a process that starts a stub, and kills it. */
  @Test
  void itEndsWhenTheProcessThatStartedItIsKilled() throws Exception {
    Process parent = java(Parent.class.getName());
    try (BufferedReader out = parent.inputReader(StandardCharsets.UTF_8)) {
      ProcessHandle stub = ProcessHandle.of(Long.parseLong(out.readLine())).orElseThrow();
      assertThat(stub.isAlive()).isTrue();
      parent.destroyForcibly();
      stub.onExit().get(60, TimeUnit.SECONDS);
    } finally {
      parent.destroyForcibly();
    }
  }

  /** Starts a stub, tells its process, and waits for the end. */
  static final class Parent {
    private Parent() {}

    public static void main(String[] arguments) throws InterruptedException {
      System.out.println(StubProcess.start().handle().pid());
      Thread.currentThread().join();
    }
  }

  private static String complaint(int exit, String... arguments) throws Exception {
    Process process = stubMain(arguments);
    try (BufferedReader err = process.errorReader(StandardCharsets.UTF_8)) {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(exit);
      List<String> lines = err.lines().toList();
      assertThat(lines).hasSize(1);
      return lines.getFirst();
    }
  }

  private static Process stubMain(String... arguments) throws IOException {
    List<String> all = new ArrayList<>(List.of(StubProviderMain.class.getName()));
    all.addAll(List.of(arguments));
    return java(all.toArray(String[]::new));
  }

  private static Process java(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path")));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).start();
  }
}
