package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.Decision;
import io.escapement.ledger.Limits;
import io.escapement.ledger.Submission;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HostileRecordsTest {

  private static final int RECORDS = 50_000;

  @Test
  void everyRecordIsEitherASoundRequestOrRefusedWithASoundReason() {
    long seed = Long.getLong("seed", System.nanoTime());
    HostileRecords records = new HostileRecords(seed);
    RequestReader reader = new RequestReader(RecordBuilder.TOPIC, 100_000);
    int requests = 0;
    for (int i = 0; i < RECORDS; i++) {
      RecordBuilder record = records.next(i);
      String which = "seed " + seed + ", record " + i;
      try {
        switch (reader.read(record.consumed(), 0)) {
          case Submission.Request request -> {
            requests++;
            assertSound(request, which);
          }
          case Submission.Refused refused -> {
            assertThat(refused.reason()).as(which).doesNotStartWith("record: ");
            assertThat(WireText.problem(refused.reason(), Limits.DETAIL_BYTES)).as(which).isNull();
            assertThat(refused.decision()).as(which).isEqualTo(Decision.INVALID);
          }
        }
      } catch (RuntimeException | StackOverflowError e) {
        throw new AssertionError(which, e);
      }
    }
    assertThat(requests).as("seed %d", seed).isBetween(RECORDS / 20, RECORDS * 9 / 10);
  }

  private static void assertSound(Submission.Request request, String which) {
    assertText(request.namespace(), Limits.NAMESPACE_BYTES, which);
    assertText(request.id(), Limits.ID_BYTES, which);
    assertText(request.tenant(), Limits.TENANT_BYTES, which);
    assertText(request.kind(), Limits.KIND_BYTES, which);
    assertText(request.subject(), Limits.SUBJECT_BYTES, which);
    assertText(request.contentType(), Limits.CONTENT_TYPE_BYTES, which);
    Instant furthest = request.issuedAt().plus(Limits.FURTHEST_DUE);
    Instant due = request.dueAt();
    Instant expires = request.expiresAt();
    if (due != null) {
      assertThat(due).as(which).isBeforeOrEqualTo(furthest);
    }
    if (expires != null) {
      assertThat(expires)
          .as(which)
          .isAfter(due == null ? request.issuedAt() : due)
          .isBeforeOrEqualTo(furthest);
    }
  }

  private static void assertText(@Nullable String text, int maxBytes, String which) {
    if (text != null) {
      assertThat(WireText.problem(text, maxBytes)).as(which).isNull();
      assertThat(text.getBytes(StandardCharsets.UTF_8))
          .as(which)
          .hasSizeLessThanOrEqualTo(maxBytes);
    }
  }
}
