package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import io.escapement.ledger.Admission;
import io.escapement.ledger.AdmissionBatch;
import io.escapement.ledger.Decision;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.PartitionKey;
import io.escapement.ledger.PositionAdvance;
import io.escapement.ledger.RecordEnvelope;
import io.escapement.ledger.Role;
import io.escapement.ledger.Submission;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Has tasks of one tenant admitted one by one, due at once, as an ingest would; a relay tells of
 * them.
 *
 * <p>Cost: a connection, and a transaction a task. Thread rule: one thread. Failure: {@link
 * CommandFailure} for a task that is not accepted.
 */
final class TaskSender implements AutoCloseable {

  private final Ledger ledger;
  private final PartitionKey partition;
  private final String tenant;
  private final byte[] value;
  private @Nullable Long position;
  private long next;

  TaskSender(BenchWorld world, String tenant, int valueBytes) {
    this.ledger = world.assembly().ledger(Role.INGEST);
    this.partition = new PartitionKey(world.topics().requests(), UUID.randomUUID(), 0);
    this.tenant = tenant;
    this.value = new byte[valueBytes];
  }

  /** Sends one; it is accepted when this returns. */
  void send() {
    Submission request =
        new Submission.Request(
            0,
            next,
            BenchWorld.SOURCE,
            "sent-" + next,
            tenant,
            BenchWorld.KIND,
            null,
            Instant.now(),
            null,
            null,
            null,
            "application/octet-stream",
            value,
            RecordEnvelope.EMPTY);
    AdmissionBatch batch =
        new AdmissionBatch(
            List.of(new PositionAdvance(partition, position, next + 1)), List.of(request));
    Admission answer = ledger.admit(batch);
    if (!(answer instanceof Admission.Decided decided)
        || decided.decisions().getFirst().decision() != Decision.ACCEPTED) {
      throw new CommandFailure("a task was not accepted: " + answer);
    }
    next++;
    position = next;
  }

  @Override
  public void close() {
    ledger.close();
  }
}
