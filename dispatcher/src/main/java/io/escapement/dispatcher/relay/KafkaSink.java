package io.escapement.dispatcher.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.escapement.ledger.OutboxEntry;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactional producer of the relay.
 *
 * <p>Opening it fences every earlier relay of the same slot and ends what that one left open; only
 * then is the position read, so nobody can move it afterwards.
 *
 * <p>Cost: one Kafka transaction a batch. Ordering: records of a key keep the order in which they
 * were appended. Thread rule: one thread at a time; {@link #close} from any. Failure: {@link
 * RelayFailedException} that names the record or the setting.
 */
final class KafkaSink implements RelaySink {

  private static final Logger LOG = LoggerFactory.getLogger(KafkaSink.class);

  private static final int MAX_REQUEST_BYTES = 16 << 20;

  private final RelayConfig config;
  private final KafkaProducer<byte[], byte[]> producer;
  private final EventEncoder encoder;
  private final AtomicReference<@Nullable RelayFailedException> refused = new AtomicReference<>();
  private final Map<String, Integer> partitions = new HashMap<>();
  private Optional<RelayPosition> position = Optional.empty();
  private volatile boolean open;
  private volatile boolean closed;

  private KafkaSink(RelayConfig config, UUID ledgerId, Duration transactionTimeout) {
    this.config = config;
    this.producer = new KafkaProducer<>(properties(config, transactionTimeout));
    this.encoder = new EventEncoder(config.topics(), ledgerId, this::partitionsOf);
  }

  /**
   * Fences earlier relays and reads the position.
   *
   * @param transactionTimeout after so long Kafka aborts a transaction of ours
   */
  static KafkaSink open(RelayConfig config, UUID ledgerId, Duration transactionTimeout) {
    KafkaSink sink;
    try {
      sink = new KafkaSink(config, ledgerId, transactionTimeout);
    } catch (KafkaException e) {
      throw KafkaTrouble.connecting(config, e);
    }
    try {
      sink.producer.initTransactions();
      sink.position = new PositionReader(config).read();
      return sink;
    } catch (KafkaException e) {
      sink.close();
      throw KafkaTrouble.connecting(config, e);
    } catch (RuntimeException e) {
      sink.close();
      throw e;
    }
  }

  private static Map<String, Object> properties(RelayConfig config, Duration transactionTimeout) {
    Map<String, Object> properties = new HashMap<>();
    properties.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, 128 * 1024);
    properties.put(ProducerConfig.LINGER_MS_CONFIG, 2);
    // A broker that is still writing the markers of the last transaction asks to come again, for a
    // moment. Longer pauses are what latency would be made of; a broker that is away is asked less
    // often all the same (reconnect.backoff.max.ms).
    properties.put(ProducerConfig.RETRY_BACKOFF_MS_CONFIG, 5);
    properties.put(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG, 20);
    // What is too large is for the topic to say.
    properties.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MAX_REQUEST_BYTES);
    // A record that no broker takes is to be named before the commit gives up waiting for it.
    long answerMillis = config.tuning().answerTimeout().toMillis();
    int recordMillis = Math.toIntExact(answerMillis * 2 / 3);
    properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, recordMillis);
    properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, recordMillis / 2);
    properties.putAll(config.kafka());
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, answerMillis);
    properties.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, config.transactionalId());
    properties.put(
        ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, Math.toIntExact(transactionTimeout.toMillis()));
    properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    properties.put(ProducerConfig.ACKS_CONFIG, "all");
    properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    return properties;
  }

  /** The largest record that the producer takes. */
  static long maxRequestBytes(RelayConfig config) {
    String set = config.kafka().get(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
    return set == null ? MAX_REQUEST_BYTES : Long.parseLong(set.strip());
  }

  @Override
  public Optional<RelayPosition> position() {
    return position;
  }

  @Override
  public int append(OutboxEntry row, boolean repeated) {
    begin();
    try {
      return encoder.encode(row, repeated, this::send);
    } catch (KafkaException e) {
      throw failure("sending outbox row " + row.id(), e);
    }
  }

  @Override
  public void appendReload(String queue) {
    begin();
    String topic = config.topics().dispatch(queue);
    if (!new TopicCheck(config).exists(topic)) {
      LOG.warn("nobody can be told to load the queue '{}' anew: {} is missing", queue, topic);
      return;
    }
    try {
      for (int partition = 0; partition < partitionsOf(topic); partition++) {
        send(encoder.reload(topic, partition));
      }
    } catch (KafkaException e) {
      throw failure("telling dispatchers to reload", e);
    }
  }

  @Override
  public void commit() {
    requireUsable();
    if (!open) {
      return;
    }
    try {
      producer.commitTransaction();
      open = false;
      partitions.clear();
    } catch (KafkaException e) {
      throw failure("committing a transaction", e);
    }
    RelayFailedException failure = refused.get();
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void commit(RelayPosition relayed) {
    begin();
    try {
      send(
          new ProducerRecord<>(
              config.topics().relayPosition(),
              PositionReader.PARTITION,
              config.slot().getBytes(UTF_8),
              relayed.toJson()));
    } catch (KafkaException e) {
      throw failure("sending the position", e);
    }
    commit();
  }

  private void begin() {
    requireUsable();
    if (!open) {
      try {
        producer.beginTransaction();
        open = true;
      } catch (KafkaException e) {
        throw failure("beginning a transaction", e);
      }
    }
  }

  /** Hands a record to the producer; what becomes of it is known at the commit at the latest. */
  private void send(ProducerRecord<byte[], byte[]> record) {
    var unused =
        producer.send(
            record,
            (metadata, error) -> {
              if (error != null && refused.get() == null) {
                refused.set(KafkaTrouble.refused(config, describe(record), record.topic(), error));
              }
            });
  }

  /** The partitions of a topic, asked for once a transaction: they can grow, never shrink. */
  private int partitionsOf(String topic) {
    try {
      return partitions.computeIfAbsent(topic, name -> producer.partitionsFor(name).size());
    } catch (TimeoutException e) {
      throw new RelayFailedException(KafkaTrouble.missing(topic), e);
    }
  }

  private static String describe(ProducerRecord<byte[], byte[]> record) {
    Header id = record.headers().lastHeader("ce_id");
    int bytes = record.value() == null ? 0 : record.value().length;
    return (id == null ? "a record" : "event " + Utils.utf8(id.value()))
        + " of "
        + bytes
        + " bytes for topic '"
        + record.topic()
        + "'";
  }

  private RelayFailedException failure(String doing, KafkaException e) {
    RelayFailedException first = refused.get();
    return first != null ? first : KafkaTrouble.failed(config, doing, e);
  }

  /** A term that was ended while its stream was still at work must not commit a part of it. */
  private void requireUsable() {
    if (closed) {
      throw new RelayFailedException("the term was ended in the middle of a transaction");
    }
  }

  @Override
  public void close() {
    closed = true;
    if (open) {
      open = false;
      try {
        producer.abortTransaction();
      } catch (KafkaException | IllegalStateException e) {
        LOG.debug("a transaction is left for Kafka to abort", e);
      }
    }
    producer.close(Duration.ofSeconds(1));
  }
}
