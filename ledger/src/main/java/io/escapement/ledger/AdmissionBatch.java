package io.escapement.ledger;

import java.util.List;

/**
 * One polled batch: one transaction, one decision for every submission. Submissions of a partition
 * stand in offset order.
 */
public record AdmissionBatch(List<PositionAdvance> positions, List<Submission> submissions) {
  /** Most submissions in one call. */
  public static final int MAX_SUBMISSIONS = 5_000;

  public AdmissionBatch {
    positions = List.copyOf(positions);
    submissions = List.copyOf(submissions);
    if (submissions.size() > MAX_SUBMISSIONS) {
      throw new IllegalArgumentException(
          submissions.size() + " submissions in a batch, most are " + MAX_SUBMISSIONS);
    }
    for (Submission submission : submissions) {
      if (submission.positionIndex() < 0 || submission.positionIndex() >= positions.size()) {
        throw new IllegalArgumentException("no position " + submission.positionIndex());
      }
    }
  }
}
