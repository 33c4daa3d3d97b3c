package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.debezium.engine.RecordChangeEvent;
import io.escapement.ledger.Lsn;
import io.escapement.ledger.OutboxEntry;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class BacklogTest {

  private static final int LIMIT = 10_000;

  private final Backlog backlog = new Backlog(LIMIT);

  @Test
  void whatComesWhileNobodyTakesIsTakenTogetherInOrder() throws InterruptedException {
    backlog.put(waiting(1, 10));
    backlog.put(waiting(2, 10));
    assertThat(backlog.take())
        .extracting(one -> one.transaction().commit().value())
        .containsExactly(1L, 2L);
  }

  @Test
  void beyondItsBoundItWaitsUntilRoomIsMade() throws InterruptedException {
    backlog.put(waiting(1, LIMIT / 2));
    CompletableFuture<Boolean> second = putWaits(2, LIMIT / 2);
    assertThat(backlog.take()).hasSize(1);
    assertThat(second.join()).isTrue();
  }

  @Test
  void aTransactionBeyondTheBoundPassesAlone() throws InterruptedException {
    assertThat(backlog.put(waiting(1, 3 * LIMIT))).isTrue();
    assertThat(backlog.take()).hasSize(1);
  }

  @Test
  void closingLetsEverybodyGo() throws InterruptedException {
    backlog.put(waiting(1, LIMIT));
    CompletableFuture<Boolean> second = putWaits(2, LIMIT);
    backlog.close();
    assertThat(second.join()).isFalse();
    assertThat(backlog.take()).isEmpty();
  }

  /** Puts one, which has to wait. */
  private CompletableFuture<Boolean> putWaits(long commit, int characters) {
    CompletableFuture<Boolean> taken = new CompletableFuture<>();
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    taken.complete(backlog.put(waiting(commit, characters)));
                  } catch (InterruptedException e) {
                    taken.completeExceptionally(e);
                  }
                });
    await().until(() -> thread.getState() == Thread.State.WAITING);
    assertThat(taken).isNotDone();
    return taken;
  }

  private static Backlog.Waiting waiting(long commit, int characters) {
    OutboxEntry row = new OutboxEntry(commit, Instant.EPOCH, "x".repeat(characters));
    SourceRecord none = new SourceRecord(null, null, "t", null, null);
    RecordChangeEvent<SourceRecord> last = () -> none;
    return new Backlog.Waiting(new OutboxTransaction(new Lsn(commit), List.of(row)), last);
  }
}
