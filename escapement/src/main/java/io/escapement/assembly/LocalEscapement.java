package io.escapement.assembly;

import io.escapement.config.Config;
import io.escapement.demo.DemoWorld;
import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.embedded.EmbeddedStack;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * All of Escapement in this process: database, broker, ingest, relay and dispatcher.
 *
 * <p>Ordering: what is started later stops earlier: ingest, dispatcher, relay, broker, database.
 * Thread rule: one thread starts, waits and closes.
 */
public final class LocalEscapement implements AutoCloseable {

  private static final Duration READY_LIMIT = Duration.ofSeconds(30);

  private final EmbeddedStack stack;
  private final Assembly assembly;
  private final Parts parts;

  private LocalEscapement(EmbeddedStack stack, Assembly assembly, Parts parts) {
    this.stack = stack;
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
    try {
      Assembly assembly =
          new Assembly(config.at(stack.jdbcUrl(), EmbeddedDatabase.USER, stack.bootstrapServers()));
      assembly.migrate();
      try (Ledger operator = assembly.ledger(Role.OPERATOR)) {
        if (operator.kinds().isEmpty()) {
          DemoWorld.define(stack, operator);
        }
      }
      assembly.createTopics(List.of());
      said.accept("starting relay, dispatcher and ingest");
      parts.add(assembly.relay());
      parts.add(assembly.dispatcher());
      parts.add(assembly.ingest());
      parts.awaitReady(READY_LIMIT);
      return new LocalEscapement(stack, assembly, parts);
    } catch (RuntimeException e) {
      closeAfter(e, parts, stack);
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

  /** The parts that run. */
  public Parts parts() {
    return parts;
  }

  @Override
  public void close() throws IOException {
    try {
      parts.close();
    } finally {
      stack.close();
    }
  }

  private static void closeAfter(RuntimeException cause, Parts parts, EmbeddedStack stack) {
    try {
      try {
        parts.close();
      } finally {
        stack.close();
      }
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}
