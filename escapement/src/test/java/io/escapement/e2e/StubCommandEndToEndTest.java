package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StubCommandEndToEndTest {

  private static final String READY = "stub-provider listening on http://127.0.0.1:";

  @TempDir private Path scratch;
  private Distribution escapement;

  @BeforeEach
  void assembled() {
    escapement = Distribution.full(scratch);
  }

  @Test
  void itSaysWhereItListensAnswersAndEndsWithZeroAtSigterm() throws Exception {
    try (PartProcess stub = PartProcess.start(escapement, READY, "stub-provider");
        HttpClient client = HttpClient.newHttpClient()) {
      assertThat(stub.said()).matches("stub-provider listening on http://127\\.0\\.0\\.1:\\d+\n");
      URI messages = URI.create(stub.said().replaceAll(".* on |\\s", "") + "/messages");
      int status =
          client
              .send(
                  HttpRequest.newBuilder(messages)
                      .header("Idempotency-Key", "one")
                      .POST(BodyPublishers.ofString("{}"))
                      .build(),
                  BodyHandlers.discarding())
              .statusCode();
      assertThat(status).isEqualTo(202);
      Result stopped = stub.stop();
      assertThat(stopped.exit()).isZero();
      assertThat(stopped.err()).isEmpty();
    }
  }

  @Test
  void aTakenPortIsOneLineWithTheCure() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(other.getLocalPort());
      Result result = escapement.run("stub-provider", "--port", port);
      assertThat(result.exit()).isEqualTo(1);
      assertThat(result.out()).isEmpty();
      assertThat(result.err())
          .startsWith("escapement: --port: can't listen on 127.0.0.1:" + port + ": ")
          .endsWith("; choose another with --port, 0 for any free one\n")
          .hasLineCount(1);
    }
  }

  @Test
  void argumentsThatCannotBeUsedAreOneLineEach() throws Exception {
    expect("--port is 70000; it is 0, for any free one, to 65535", "--port=70000");
    expect(
        "--signing-secret is no secret of Standard Webhooks; write whsec_ and base64",
        "--signing-secret=geheim");
    expect(
        "--host: host.invalid can't be resolved; name an address of this machine",
        "--host=host.invalid");
    Result noNumber = escapement.run("stub-provider", "--port=many");
    assertThat(noNumber.exit()).isEqualTo(2);
    assertThat(noNumber.err())
        .contains("'--port'", "'many'", "stub-provider --help")
        .hasLineCount(1);
  }

  @Test
  void itsHelpNamesItsOptionsAndPathsAndItIsListed() throws Exception {
    assertThat(escapement.run("stub-provider", "--help").out())
        .contains("--port=N", "--host=HOST", "--signing-secret", "/messages", "/stub/scripts");
    assertThat(escapement.run("--help").out()).contains("stub-provider");
  }

  private void expect(String line, String argument) throws Exception {
    Result result = escapement.run("stub-provider", argument);
    assertThat(result.exit()).isEqualTo(2);
    assertThat(result.err()).isEqualTo("escapement: " + line + "\n");
  }
}
