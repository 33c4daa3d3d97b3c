package io.escapement.assembly;

import io.escapement.config.ConfigException;
import io.escapement.ingest.IngestAssembly;
import io.escapement.ingest.IngestConfig;
import io.escapement.ingest.IngestHealth;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.LedgerUnavailableException;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.util.Map;
import java.util.Optional;

/**
 * The consumer of commands and its own way into the ledger, under the operators' role.
 *
 * <p>Thread rule: start and close once; ask from any thread.
 */
final class Commands implements AutoCloseable {

  private final Ledger ledger;
  private final IngestAssembly consumer;

  private Commands(Ledger ledger, IngestAssembly consumer) {
    this.ledger = ledger;
    this.consumer = consumer;
  }

  /** Checks what commands need; {@link #start} sets them going. */
  static Commands open(LedgerConfig ledgerConfig, Map<String, String> kafka, TopicNames topics) {
    Ledger ledger = connect(ledgerConfig);
    try {
      return new Commands(
          ledger,
          IngestAssembly.ofCommands(ledger, kafka, topics, IngestConfig.ofCommands(topics)));
    } catch (RuntimeException e) {
      ledger.close();
      throw e;
    }
  }

  private static Ledger connect(LedgerConfig config) {
    try {
      return Ledger.connect(config, Role.OPERATOR);
    } catch (LedgerUnavailableException e) {
      throw new ConfigException(
          e.getMessage() + "; or set ingest.commands=false, and this process executes no commands",
          e);
    }
  }

  void start() {
    consumer.start();
  }

  /** Why it has ended by itself; empty while it works or retries. */
  Optional<String> ended() {
    IngestHealth health = consumer.health();
    return health.state() == IngestHealth.State.FAILED
        ? Optional.of("commands: " + health.lastError())
        : Optional.empty();
  }

  @Override
  public void close() {
    consumer.close();
    ledger.close();
  }
}
