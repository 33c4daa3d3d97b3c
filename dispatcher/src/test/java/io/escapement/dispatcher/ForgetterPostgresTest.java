package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.Requests;
import io.escapement.ledger.Role;
import io.escapement.ledger.TestLedger;
import org.junit.jupiter.api.Test;

class ForgetterPostgresTest {

  @Test
  void whatEndedBeforeTheWindowIsForgottenBatchAfterBatch() throws InterruptedException {
    try (TestLedger db = TestLedger.create()) {
      Ledger ingest = db.connect(Role.INGEST);
      for (int i = 0; i < 3; i++) {
        db.submit(ingest, Requests.request("r" + i).build());
        db.execute("select * from escapement.cancel('/test', 'r" + i + "')");
      }
      db.execute(
          "update escapement.intent set accepted_at = now() - interval '8 days',"
              + " last_issued_at = now() - interval '8 days' where event_id <> 'r2'");
      Forgetter forgetter = new Forgetter(db.connect(Role.DISPATCHER));
      assertThat(forgetter.runOnce()).isEqualTo(2);
      assertThat(db.column("select event_id from escapement.intent")).containsExactly("r2");
      // At the end: it rests.
      db.execute("update escapement.intent set accepted_at = now() - interval '8 days'");
      assertThat(forgetter.runOnce()).isZero();
    }
  }
}
