package io.escapement.ingest;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.ClusterResourceListener;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Hands bytes through, and counts the consumer's metadata updates.
 *
 * <p>A consumer fetches by topic id, and learns another id under the same name only by a metadata
 * update, of which it tells the deserializers that listen. So as long as the count stands still,
 * every record comes from the topics that were looked at last; the loop asks for their ids again
 * only when it has moved, not for every batch. Thread rule: any.
 */
final class MetadataWatch implements Deserializer<byte[]>, ClusterResourceListener {

  private final AtomicLong updates = new AtomicLong();

  @Override
  public byte @Nullable [] deserialize(String topic, byte @Nullable [] data) {
    return data;
  }

  @Override
  public void onUpdate(@Nullable ClusterResource clusterResource) {
    updates.incrementAndGet();
  }

  /** How many updates there were. */
  long updates() {
    return updates.get();
  }
}
