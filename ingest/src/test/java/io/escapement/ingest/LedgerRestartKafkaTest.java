package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Migrator;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerRestartKafkaTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Test
  void ingestOutlivesItsDatabaseAndDecidesEachRecordOnce(@TempDir Path directory) throws Exception {
    try (IngestFixture fixture = new IngestFixture(2)) {
      EmbeddedDatabase database = EmbeddedDatabase.start(directory.resolve("data"), 0);
      int port = database.port();
      LedgerConfig config = LedgerConfig.of(database.jdbcUrl("postgres"), "postgres", "postgres");
      Migrator.migrate(config);
      try (Ledger operator = Ledger.connect(config, Role.OPERATOR)) {
        operator.defineKind(KindDefinition.local("work"), "test");
      }
      try (Ledger ledger = Ledger.connect(quick(config), Role.INGEST);
          IngestAssembly ingest =
              IngestAssembly.ofRequests(
                  ledger, fixture.kafka(), new TopicNames(fixture.prefix()), fixture.config())) {
        ingest.start();
        fixture.produce(0, fixture.requests(0, 200));
        await().atMost(LIMIT).until(() -> ingest.stats().snapshot().decided() == 200);

        database.close();
        fixture.produce(1, fixture.requests(200, 200));
        await().atMost(LIMIT).until(() -> ingest.health().state() == IngestHealth.State.DEGRADED);
        assertThat(ingest.health().partitions()).as("it stays in the group").isEqualTo(2);

        database = EmbeddedDatabase.start(directory.resolve("data"), port);
        await().atMost(LIMIT).until(() -> ingest.stats().snapshot().decided() == 400);
        fixture.produce(0, fixture.requests(400, 100));
        await().atMost(LIMIT).until(() -> ingest.health().state() == IngestHealth.State.RUNNING);
        await().atMost(LIMIT).until(() -> ingest.stats().snapshot().decided() == 500);
      }
      try (Ledger reader = Ledger.connect(config, Role.READER)) {
        assertThat(reader.status().budgets().getFirst().usedTasks()).isEqualTo(500);
        assertThat(reader.audit()).isEmpty();
      } finally {
        database.close();
      }
    }
  }

  private static LedgerConfig quick(LedgerConfig config) {
    return new LedgerConfig(
        config.url(),
        config.user(),
        config.password(),
        2,
        Duration.ofSeconds(1),
        config.statementTimeout(),
        config.lockTimeout());
  }
}
