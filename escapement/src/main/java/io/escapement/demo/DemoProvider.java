package io.escapement.demo;

import io.escapement.embedded.stub.StubCounts;
import io.escapement.embedded.stub.StubProcess;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A provider outside, the stub in a process of its own, and the channel that calls it: what the
 * demo's fourth kind goes to. Some calls are accepted and never answered, on purpose.
 */
public final class DemoProvider implements AutoCloseable {

  static final String KIND = "demo.webhook.send";

  private static final String CHANNEL = "demo-provider";
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final List<String> ANSWERED = List.of("accept");
  private static final List<String> LOST = List.of("accept-drop", "accept");

  private final StubProcess stub;

  private DemoProvider(StubProcess stub) {
    this.stub = stub;
  }

  /** Starts the provider, with nobody who calls it yet. */
  public static DemoProvider start() {
    return new DemoProvider(StubProcess.start());
  }

  /** Defines the channel and the kind that goes to it. */
  static void define(Ledger operator, String reason) {
    operator.defineChannel(ChannelDefinition.idempotent(CHANNEL, TIMEOUT, null), reason);
    operator.defineKind(
        KindDefinition.local(KIND)
            .withChannel(CHANNEL)
            .withBackoff(Duration.ofMillis(200), Duration.ofSeconds(2), 0.2),
        reason);
  }

  /**
   * Writes how the channel calls this provider, for a dispatcher to read.
   *
   * @return false if the ledger has no such channel: it was made before there was one
   */
  public boolean setUp(Ledger reader, Path directory) {
    if (reader.channels().stream().noneMatch(channel -> channel.name().equals(CHANNEL))) {
      return false;
    }
    try {
      Files.createDirectories(directory);
      Files.writeString(
          directory.resolve(CHANNEL + ".properties"),
          """
          # Written at each start: the provider listens on a free port.
          url = %s
          replay = 200
          refused = 503
          rejected = 400
          message-id-header = X-Message-Id
          """
              .formatted(stub.messages()));
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether it answers the first calls of tasks that it has not seen yet. */
  void answer(boolean answers) {
    stub.defaultScript(answers ? ANSWERED : LOST, List.of());
  }

  /** What it has counted, over all tasks. */
  Counted counted() {
    int calls = 0;
    int delivered = 0;
    for (StubCounts counts : stub.all().values()) {
      calls += counts.calls();
      delivered += counts.delivered();
    }
    return new Counted(calls, delivered);
  }

  /**
   * A provider's own word.
   *
   * @param calls that reached it
   * @param delivered messages that it took
   */
  public record Counted(int calls, int delivered) {}

  @Override
  public void close() {
    stub.close();
  }
}
