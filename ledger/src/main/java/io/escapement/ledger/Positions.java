package io.escapement.ledger;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Reads how far partitions are decided. */
final class Positions {

  private record Row(UUID topicId, int partition, long position) {}

  private final Statements statements;
  private final String sql = Statements.load("positions");

  Positions(Statements statements) {
    this.statements = statements;
  }

  Map<PartitionKey, Long> apply(Collection<PartitionKey> partitions) {
    List<Row> rows =
        statements.query(
            "positions",
            sql,
            parameters ->
                parameters
                    .array("uuid", partitions.stream().map(PartitionKey::topicId).toList())
                    .array("int4", partitions.stream().map(PartitionKey::partition).toList()),
            row ->
                new Row(
                    row.getObject("topic_id", UUID.class),
                    row.getInt("partition"),
                    row.getLong("position")));
    Map<PartitionKey, Long> positions = new HashMap<>();
    for (PartitionKey key : partitions) {
      for (Row row : rows) {
        if (row.topicId().equals(key.topicId()) && row.partition() == key.partition()) {
          positions.put(key, row.position());
        }
      }
    }
    return positions;
  }
}
