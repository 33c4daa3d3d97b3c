package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a service learns of its ledger before it starts, under its own role. */
class PreconditionsPostgresTest {

  private final TestLedger db = TestLedger.create();

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void aMigratedSchemaLacksNothing() {
    for (Role role : Role.values()) {
      SchemaState schema = db.connect(role).schema();
      assertThat(schema.pending()).as(role.toString()).isEmpty();
      assertThat(schema.unknown()).as(role.toString()).isEmpty();
    }
  }

  @Test
  void aMigrationThatIsMissingChangedOrUnknownIsSeen() {
    db.execute(
        "delete from escapement.flyway_schema_history where script = 'V4__admission.sql';"
            + "update escapement.flyway_schema_history set checksum = 7"
            + " where script = 'R__12_admit.sql';"
            + "insert into escapement.flyway_schema_history (installed_rank, version, description,"
            + " type, script, checksum, installed_by, execution_time, success)"
            + " values (1000, '9', 'later', 'SQL', 'V9__later.sql', 1, 'x', 1, true)");
    SchemaState schema = db.connect(Role.INGEST).schema();
    assertThat(schema.pending()).containsExactly("R__12_admit.sql", "V4__admission.sql");
    assertThat(schema.unknown()).containsExactly("V9__later.sql");
  }

  @Test
  void aLedgerFromBeforeItToldItsMigrationsLacksThemAll() {
    db.execute("drop view escapement.migrations");
    assertThat(db.connect(Role.INGEST).schema().pending())
        .contains("V1__tables.sql", "R__12_admit.sql");
  }

  @Test
  void theServersFactsAreRead() {
    Preconditions facts = db.connect(Role.DISPATCHER).preconditions();
    assertThat(facts.serverVersion()).isGreaterThanOrEqualTo(150_000);
    assertThat(facts.encoding()).isEqualTo("UTF8");
    assertThat(facts.shortestGuardMillis()).as("set by every session").isPositive();
    assertThat(facts.maxPayloadBytes()).isEqualTo(262_144);
    assertThat(facts.tenantsAbove()).isZero();
    db.connect(Role.OPERATOR).setTenant("big", Long.MAX_VALUE, 1, 1, "test");
    assertThat(db.connect(Role.DISPATCHER).preconditions().tenantsAbove()).isOne();
  }
}
