package io.escapement.dispatcher.relay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.escapement.ledger.Lsn;
import io.escapement.ledger.ServerIdentity;
import java.io.IOException;

/**
 * How far the outbox is relayed: every transaction of this server's history that was committed up
 * to the LSN is in Kafka, and nothing that was committed after it is.
 *
 * <p>Transactions are relayed whole, so the index of the last row within its transaction adds
 * nothing to the comparison; it is kept for people who look.
 *
 * @param lsn the end of the last relayed transaction's commit record, or where a new slot begins
 * @param index the rows of that transaction
 */
record RelayPosition(ServerIdentity server, Lsn lsn, int index) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Whether a transaction with this commit is in Kafka already. */
  boolean covers(Lsn commit) {
    return commit.compareTo(lsn) <= 0;
  }

  RelayPosition at(Lsn commit, int rows) {
    if (covers(commit)) {
      throw new IllegalStateException("the position would go back from " + lsn + " to " + commit);
    }
    return new RelayPosition(server, commit, rows);
  }

  byte[] toJson() {
    try {
      return JSON.writeValueAsBytes(
          JSON.createObjectNode()
              .put("system", server.systemId())
              .put("timeline", server.timeline())
              .put("lsn", lsn.toString())
              .put("index", index));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads what {@link #toJson} wrote.
   *
   * @throws IllegalArgumentException if it is something else
   */
  static RelayPosition fromJson(byte[] json) {
    try {
      JsonNode node = JSON.readTree(json);
      return new RelayPosition(
          new ServerIdentity(node.required("system").asText(), node.required("timeline").asInt()),
          Lsn.parse(node.required("lsn").asText()),
          node.required("index").asInt());
    } catch (IOException e) {
      throw new IllegalArgumentException("not a relay position", e);
    }
  }
}
