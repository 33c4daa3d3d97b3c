package io.escapement.embedded;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Leaves a PostgreSQL server behind, as {@code kill -9} of the process that started it does. */
final class OrphanMaker {

  private OrphanMaker() {}

  /** Runs a JVM that starts a server, kills the JVM, and returns the server's port. */
  static int startAndKill(Path postgresDirectory) throws IOException, InterruptedException {
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                OrphanMaker.class.getName(),
                postgresDirectory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out = jvm.inputReader(StandardCharsets.UTF_8)) {
      return Integer.parseInt(out.readLine());
    } finally {
      jvm.destroyForcibly().waitFor();
    }
  }

  /** Starts a server, tells its port, and waits for the end. */
  public static void main(String[] arguments) throws Exception {
    EmbeddedDatabase server = EmbeddedDatabase.start(Path.of(arguments[0]), 0);
    System.out.println(server.port());
    Thread.currentThread().join();
  }
}
