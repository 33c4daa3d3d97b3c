package io.escapement.dispatcher.relay;

import io.escapement.ledger.DatabaseAddress;
import java.time.Duration;
import java.util.Properties;

/**
 * How Debezium is set up. Three of the settings carry the relay's exactness; the others are taste.
 *
 * <ul>
 *   <li>{@code lsn.flush.mode=connector}: the slot is confirmed only up to what was acknowledged.
 *       The mode that lets the driver confirm keepalives too compares the keepalive with where the
 *       <em>last message</em> is in the log; a row of a transaction that began early is far back
 *       there, so transactions that were committed before it but not yet acknowledged could be
 *       confirmed, and lost by a crash. Idle slots are moved by heartbeats instead.
 *   <li>{@code errors.max.retries=0}: an engine that starts again by itself creates a slot that was
 *       dropped meanwhile, silently and at the end of the log. Every start has to pass the slot
 *       check.
 *   <li>{@code event.converting.failure.handling.mode=fail}: by default a value that can't be
 *       converted is left out with a warning.
 * </ul>
 */
final class StreamSettings {

  /** Only inside this process: Debezium's name for where records come from. */
  private static final String ORIGIN = "escapement";

  static final String OUTBOX_TOPIC = ORIGIN + ".escapement.outbox";
  static final String TRANSACTION_TOPIC = ORIGIN + ".transaction";

  private static final Duration SLOT_RETRY = Duration.ofMillis(200);
  private static final Duration STATUS_INTERVAL = Duration.ofSeconds(3);

  private StreamSettings() {}

  static Properties of(RelayConfig config) {
    Properties p = new Properties();
    connection(config, p);
    slot(config, p);
    engine(config, p);
    return p;
  }

  private static void connection(RelayConfig config, Properties p) {
    DatabaseAddress address = DatabaseAddress.of(config.ledger());
    p.setProperty("driver.socketFactory", WaitingSocketFactory.class.getName());
    address.parameters().forEach((name, value) -> p.setProperty("driver." + name, value));
    p.setProperty("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
    p.setProperty("database.hostname", address.host());
    p.setProperty("database.port", Integer.toString(address.port()));
    p.setProperty("database.dbname", address.database());
    p.setProperty("database.user", config.ledger().user());
    p.setProperty("database.password", config.ledger().password());
    p.setProperty("topic.prefix", ORIGIN);
    p.setProperty("table.include.list", "escapement.outbox");
    p.setProperty("message.prefix.exclude.list", ".*");
  }

  private static void slot(RelayConfig config, Properties p) {
    p.setProperty("plugin.name", "pgoutput");
    p.setProperty("publication.name", "escapement_outbox");
    p.setProperty("publication.autocreate.mode", "disabled");
    p.setProperty("slot.name", config.slot());
    p.setProperty("slot.drop.on.stop", "false");
    p.setProperty("slot.retry.delay.ms", millis(SLOT_RETRY));
    p.setProperty(
        "slot.max.retries", Long.toString(config.tuning().answerTimeout().dividedBy(SLOT_RETRY)));
    p.setProperty("snapshot.mode", "no_data");
    p.setProperty("provide.transaction.metadata", "true");
    p.setProperty("lsn.flush.mode", "connector");
    p.setProperty("status.update.interval.ms", millis(STATUS_INTERVAL));
  }

  private static void engine(RelayConfig config, Properties p) {
    RelayTuning tuning = config.tuning();
    p.setProperty("name", config.transactionalId());
    p.setProperty("offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore");
    p.setProperty("errors.max.retries", "0");
    p.setProperty("event.processing.failure.handling.mode", "fail");
    p.setProperty("event.converting.failure.handling.mode", "fail");
    p.setProperty("poll.interval.ms", millis(tuning.pollInterval()));
    // The engine waits for a full batch, or for the poll interval: where one record is a full batch
    // it waits for nothing. Batches are made by the Forwarder, out of what has come meanwhile.
    p.setProperty("max.batch.size", "1");
    p.setProperty("max.queue.size", Integer.toString(tuning.queueRecords()));
    p.setProperty("max.queue.size.in.bytes", Long.toString(tuning.queueBytes()));
    p.setProperty("statistics.metrics.enabled", "false");
    p.setProperty("record.processing.threads", "1");
    p.setProperty("executor.shutdown.timeout.ms", millis(tuning.closeTimeout().dividedBy(2)));
    p.setProperty("task.management.timeout.ms", millis(tuning.closeTimeout()));
  }

  private static String millis(Duration duration) {
    return Long.toString(duration.toMillis());
  }
}
