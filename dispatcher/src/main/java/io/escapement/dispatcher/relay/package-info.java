/**
 * The outbox relay: what the ledger has committed, once in Kafka for those who read committed
 * records. Debezium stays inside this package.
 */
@NullMarked
package io.escapement.dispatcher.relay;

import org.jspecify.annotations.NullMarked;
