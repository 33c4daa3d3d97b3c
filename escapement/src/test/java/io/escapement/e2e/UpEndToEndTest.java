package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.e2e.Distribution.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpEndToEndTest {

  private static final String READY = "Ctrl-C stops it.";

  @TempDir private Path scratch;

  @Test
  void theWholeStackIsUsedStoppedKilledAndFindsItsDataAgain() throws Exception {
    Path health = scratch.resolve("health");
    Distribution escapement =
        Distribution.full(scratch).with("ESCAPEMENT_HEALTH_FILE", health.toString());
    Path events = scratch.resolve("events.jsonl");
    Files.writeString(
        events,
        "{\"specversion\":\"1.0\",\"source\":\"/me\",\"id\":\"1\",\"tenant\":\"north\","
            + "\"type\":\"demo.invoice.issue\"}\n");
    Path bad = scratch.resolve("bad.jsonl");
    Files.writeString(bad, "no JSON\n");

    try (PartProcess up = up(escapement)) {
      assertDecided(submit(escapement, up, events), 0, "accepted");
      assertDecided(submit(escapement, up, bad, "--raw"), 1, "invalid");
      Result status = escapement.run("status", "--ledger-url=" + jdbcUrl(up));
      assertThat(status.exit()).as(status.err()).isZero();
      assertThat(status.out()).contains("(whole ledger)", "lateness: ", "north");

      Result second =
          escapement.run("up", "--data-dir=data", "--up-postgres-port=0", "--up-kafka-port=0");
      assertThat(second.exit()).isEqualTo(1);
      assertThat(second.err())
          .isEqualTo(
              "escapement: data.dir: "
                  + scratch.resolve("data")
                  + " is in use by process "
                  + up.pid()
                  + "; stop that one, or choose another with --data-dir\n");

      // The refused one used the same file, which it should not.
      await().atMost(Pipeline.LIMIT).until(() -> Files.exists(health));
      assertThat(health).content().startsWith("running ");
      Result stopped = up.stop();
      assertThat(stopped.exit()).isZero();
      assertThat(stopped.err()).isEmpty();
      assertThat(health).doesNotExist();
      assertThat(stopped.out()).contains("draining and stopping", "the data is kept in");
    }
    try (PartProcess again = up(escapement)) {
      assertDecided(submit(escapement, again, events), 0, "replay");
      again.kill();
    }
    // The database has outlived the kill; it is stopped before the next one starts.
    try (PartProcess afterKill = up(escapement)) {
      assertDecided(submit(escapement, afterKill, events), 0, "replay");
      Result audit = escapement.run("audit", "--ledger-url=" + jdbcUrl(afterKill));
      assertThat(audit.exit()).as(audit.out()).isZero();
      // Impatience: the second signal does not wait for what the first one began.
      afterKill.signal();
      afterKill.signal();
      Result ended = afterKill.stop();
      assertThat(ended.exit()).isIn(0, 130);
    }
  }

  private static PartProcess up(Distribution escapement) throws Exception {
    return PartProcess.start(
        escapement, READY, "up", "--data-dir=data", "--up-postgres-port=0", "--up-kafka-port=0");
  }

  private static Result submit(Distribution escapement, PartProcess up, Path file, String... more)
      throws Exception {
    String[] arguments = new String[3 + more.length];
    arguments[0] = "submit";
    arguments[1] = file.toString();
    arguments[2] = "--kafka-bootstrap-servers=" + find(up, "Kafka\\s+(\\S+)");
    System.arraycopy(more, 0, arguments, 3, more.length);
    return escapement.run(arguments);
  }

  private static void assertDecided(Result submitted, int exit, String decision) {
    assertThat(submitted.exit()).as(submitted.toString()).isEqualTo(exit);
    assertThat(submitted.out()).contains("sent 1 records").containsPattern(decision + "\\s+1");
  }

  private static String jdbcUrl(PartProcess up) throws Exception {
    return find(up, "PostgreSQL\\s+(\\S+)");
  }

  private static String find(PartProcess up, String pattern) throws Exception {
    Matcher found =
        Pattern.compile(pattern).matcher(up.said().substring(up.said().indexOf(" is up")));
    assertThat(found.find()).as(up.said()).isTrue();
    return found.group(1);
  }
}
