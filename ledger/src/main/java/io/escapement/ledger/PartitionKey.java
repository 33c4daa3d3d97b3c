package io.escapement.ledger;

import java.util.UUID;

/**
 * A partition of one incarnation of a topic. A topic that is deleted and created again has another
 * id, so its positions start anew.
 */
public record PartitionKey(String topic, UUID topicId, int partition) {}
