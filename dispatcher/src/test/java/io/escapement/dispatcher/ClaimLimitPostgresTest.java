package io.escapement.dispatcher;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.ClaimAnswer;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import io.escapement.ledger.Submission;
import io.escapement.ledger.TestLedger;
import io.escapement.ledger.WorkFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A claim takes no more than its limit, and what it left the next one finds. */
class ClaimLimitPostgresTest {

  @Test
  void thirtyFiveDueTasksAreClaimedTenAtATime() {
    assertThat(claims(10)).containsExactly(10, 10, 10, 5, 0);
  }

  /** The control: the limit it is that parts them. */
  @Test
  void withALargerLimitOneClaimTakesThemAll() {
    assertThat(claims(100)).containsExactly(35, 0, 0, 0, 0);
  }

  private static List<Integer> claims(int limit) {
    try (TestLedger db = TestLedger.create()) {
      var unused =
          db.submit(
              db.connect(Role.INGEST),
              IntStream.range(0, 35)
                  .mapToObj(i -> request("n" + i).build())
                  .toArray(Submission.Request[]::new));
      Ledger worker = db.connect(Role.DISPATCHER);
      List<Integer> sizes = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        List<ClaimAnswer> claimed =
            worker.claimDue("w/" + i, "default", TestLedger.ALL_SLOTS, WorkFilter.ANY, limit);
        assertThat(claimed).hasOnlyElementsOfType(ClaimAnswer.Claimed.class);
        sizes.add(claimed.size());
      }
      assertThat(db.number("select count(*) from escapement.task where state = 'CLAIMED'"))
          .isEqualTo(35);
      return sizes;
    }
  }
}
