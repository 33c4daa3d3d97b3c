package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The worked example of a channel, against a server that says what it is told. */
class SmtpChannelTest {

  private static final String SILENCE = "silence";
  private static final String CLOSE = "close";

  private ServerSocket server;
  private final CountDownLatch end = new CountDownLatch(1);

  @BeforeEach
  void open() throws IOException {
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void close() throws IOException {
    end.countDown();
    server.close();
  }

  @Test
  void aGoodReplyAfterTheDotIsAnAcceptance() throws Exception {
    assertThat(send("220 hi", "250-first\r\n250 ok", "250 ok", "250 ok", "354 go", "250 queued"))
        .isEqualTo(new SendResult.Accepted("250 queued"));
  }

  @Test
  void what4yzAnd5yzMeanDoesNotDependOnWhenTheyCome() throws Exception {
    assertThat(send("220 hi", "250 ok", "250 ok", "450 busy"))
        .isEqualTo(new SendResult.Refused("450 busy", null));
    assertThat(send("220 hi", "250 ok", "250 ok", "550 nobody"))
        .isEqualTo(new SendResult.Rejected("550 nobody"));
    assertThat(send("220 hi", "250 ok", "250 ok", "250 ok", "354 go", "451 later"))
        .isEqualTo(new SendResult.Refused("451 later", null));
    assertThat(send("220 hi", "250 ok", "250 ok", "250 ok", "354 go", "554 spam"))
        .isEqualTo(new SendResult.Rejected("554 spam"));
  }

  @Test
  void silenceIsUnknownOnlyAfterTheFinalDot() throws Exception {
    assertThat(send("220 hi", "250 ok", CLOSE)).isInstanceOf(SendResult.Refused.class);
    assertThat(send("220 hi", "250 ok", "250 ok", "250 ok", "354 go", CLOSE))
        .isInstanceOf(SendResult.IoError.class);
    assertThat(send("220 hi", "250 ok", "250 ok", "250 ok", "354 go", SILENCE))
        .isInstanceOf(SendResult.Timeout.class);
  }

  @Test
  void noServerIsARefusal() throws Exception {
    InetSocketAddress nowhere = (InetSocketAddress) server.getLocalSocketAddress();
    server.close();
    assertThat(new SmtpChannel(nowhere, "us@example.org").send(call()))
        .isInstanceOf(SendResult.Refused.class);
  }

  private SendResult send(String... replies) throws IOException {
    Thread.ofVirtual().start(() -> serve(new ArrayDeque<>(List.of(replies))));
    return new SmtpChannel((InetSocketAddress) server.getLocalSocketAddress(), "us@example.org")
        .send(call());
  }

  private void serve(Deque<String> replies) {
    try (Socket client = server.accept();
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))) {
      boolean data = false;
      for (String reply = replies.poll(); reply != null; reply = replies.poll()) {
        if (reply.equals(CLOSE)) {
          return;
        }
        if (reply.equals(SILENCE)) {
          end.await();
          return;
        }
        client.getOutputStream().write((reply + "\r\n").getBytes(StandardCharsets.UTF_8));
        data = reply.startsWith("354");
        String line = in.readLine();
        while (data && line != null && !line.equals(".")) {
          line = in.readLine();
        }
      }
    } catch (IOException | InterruptedException e) {
      // The client has gone.
    }
  }

  private static Call call() {
    Task task =
        new Task(
            7,
            1,
            2,
            "acme",
            "mail",
            "/source",
            "id",
            "anna",
            Instant.EPOCH,
            Instant.EPOCH,
            "ledger-7",
            "text/plain",
            ".a line that begins with a dot\nand another".getBytes(StandardCharsets.UTF_8));
    return new Call(task, "anna@example.org", false, Duration.ofSeconds(4));
  }
}
