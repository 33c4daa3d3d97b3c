package io.escapement.e2e;

import io.escapement.e2e.TestServers.Addresses;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.lifecycle.Startables;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** Servers in containers, of the images that docker-compose.yml names. */
final class ContainerServers {

  static final String POSTGRES_IMAGE = "postgres:18";
  static final String KAFKA_IMAGE = "apache/kafka:4.3.1";

  private static final String NAME = "escapement";
  private static final String USER = "postgres";

  private ContainerServers() {}

  static TestServers start() {
    PostgreSQLContainer postgres =
        new PostgreSQLContainer(POSTGRES_IMAGE)
            .withDatabaseName(NAME)
            .withUsername(USER)
            .withPassword("any")
            .withEnv("POSTGRES_HOST_AUTH_METHOD", "trust")
            .withCommand(
                "postgres",
                "-c",
                "wal_level=logical",
                "-c",
                "max_slot_wal_keep_size=1GB",
                "-c",
                "max_connections=200",
                "-c",
                "timezone=America/St_Johns",
                // Benchmarks count statements.
                "-c",
                "shared_preload_libraries=pg_stat_statements");
    KafkaContainer kafka =
        new KafkaContainer(KAFKA_IMAGE).withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false");
    AutoCloseable both =
        () -> {
          kafka.close();
          postgres.close();
        };
    Startables.deepStart(postgres, kafka).join();
    String server =
        "jdbc:postgresql://"
            + postgres.getHost()
            + ":"
            + postgres.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT)
            + "/";
    return new TestServers(
        NAME, new Addresses(server, "", USER, "", plain(kafka.getBootstrapServers())), both);
  }

  /** Without a protocol before it. */
  private static String plain(String servers) {
    return servers.replaceFirst("^.*://", "");
  }
}
