package io.escapement.assembly;

import io.escapement.config.Config;
import io.escapement.demo.DemoProvider;
import io.escapement.demo.DemoWorld;
import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.embedded.EmbeddedStack;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All of Escapement in this process: database, broker, ingest, relay and dispatcher; and a provider
 * outside, in another.
 *
 * <p>Ordering: what is started later stops earlier: ingest, dispatcher, relay, broker, database.
 * Thread rule: one thread starts, waits and closes.
 */
public final class LocalEscapement implements AutoCloseable {

  private static final Duration READY_LIMIT = Duration.ofSeconds(30);

  private final EmbeddedStack stack;
  private final DemoProvider provider;
  private final Assembly assembly;
  private final Parts parts;

  private LocalEscapement(
      EmbeddedStack stack, DemoProvider provider, Assembly assembly, Parts parts) {
    this.stack = stack;
    this.provider = provider;
    this.assembly = assembly;
    this.parts = parts;
  }

  /**
   * Starts the servers, prepares them, and starts the parts.
   *
   * @param said hears what is done, for people who wait
   */
  public static LocalEscapement start(
      Config config, EmbeddedStack.Config servers, Consumer<String> said) {
    said.accept("starting PostgreSQL and Kafka in " + servers.directory());
    EmbeddedStack stack = EmbeddedStack.start(servers);
    said.accept("migrating the ledger, creating the topics");
    Parts parts = new Parts();
    DemoProvider provider = null;
    try {
      provider = DemoProvider.start();
      Assembly assembly =
          new Assembly(config.at(stack.jdbcUrl(), EmbeddedDatabase.USER, stack.bootstrapServers()));
      assembly.migrate();
      try (Ledger operator = assembly.ledger(Role.OPERATOR)) {
        if (operator.kinds().isEmpty()) {
          DemoWorld.define(stack, operator);
        }
      }
      assembly.createTopics(List.of());
      Path channels = servers.directory().resolve("channels");
      boolean called;
      try (Ledger reader = assembly.ledger(Role.READER)) {
        called = provider.setUp(reader, channels);
      }
      said.accept("starting relay, dispatcher and ingest");
      parts.add(assembly.relay());
      parts.add(assembly.dispatcher(called ? List.of(channels) : List.of()));
      parts.add(assembly.ingest());
      parts.awaitReady(READY_LIMIT);
      return new LocalEscapement(stack, provider, assembly, parts);
    } catch (RuntimeException e) {
      closeAfter(e, parts, provider, stack);
      throw e;
    }
  }

  /** Builds what else talks to these servers. */
  public Assembly assembly() {
    return assembly;
  }

  /** The servers. */
  public EmbeddedStack stack() {
    return stack;
  }

  /** The provider outside that the demo's webhooks go to. */
  public DemoProvider provider() {
    return provider;
  }

  /** The parts that run. */
  public Parts parts() {
    return parts;
  }

  @Override
  public void close() throws IOException {
    close(parts, provider, stack);
  }

  private static void close(Parts parts, @Nullable DemoProvider provider, EmbeddedStack stack)
      throws IOException {
    try {
      parts.close();
    } finally {
      if (provider != null) {
        provider.close();
      }
      stack.close();
    }
  }

  private static void closeAfter(
      RuntimeException cause, Parts parts, @Nullable DemoProvider provider, EmbeddedStack stack) {
    try {
      close(parts, provider, stack);
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}
