package io.escapement.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.Preconditions;
import io.escapement.ledger.SchemaState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LedgerRulesTest {

  private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
  private static final SchemaState CURRENT = new SchemaState(List.of(), List.of());

  private int version = 180_004;
  private String walLevel = "logical";
  private long keep = 1_024;
  private long slots = 1;
  private int connections = 100;
  private String synchronous = "on";
  private boolean durable = true;
  private String encoding = "UTF8";
  private long guard = 1_000;
  private @Nullable Long tenantTasks = 1_000L;
  private @Nullable Long tenantBytes = 1_000_000L;
  private long tenants = 1;
  private long maxTasks = 1_000;
  private long maxBytes = 1_000_000;
  private long above;
  private int kinds = 1;
  private Instant clock = NOW;

  @Test
  void aHealthyLedgerHasNoFindings() {
    assertThat(lines(CURRENT)).isEmpty();
    tenantTasks = null;
    tenantBytes = null;
    assertThat(lines(CURRENT)).as("unknown tenants are not admitted").isEmpty();
  }

  @Test
  void aSchemaThatLacksMigrationsIsAnErrorOfAllParts() {
    SchemaState old = new SchemaState(List.of("V4__x.sql", "R__12_admit.sql"), List.of());
    List<Finding> found = findings(old);
    assertThat(found)
        .singleElement()
        .satisfies(one -> assertThat(one.stops(Concern.RELAY)).isTrue());
    assertThat(found.get(0).line())
        .isEqualTo(
            "error  schema: lacks V4__x.sql, R__12_admit.sql of this version; run escapement"
                + " migrate");
  }

  @Test
  void aNewerSchemaIsAWarningSoThatOldProcessesGoOnDuringAnUpgrade() {
    assertThat(lines(new SchemaState(List.of(), List.of("V9__y.sql"))))
        .singleElement()
        .asString()
        .startsWith("warning  schema: has V9__y.sql");
  }

  @Test
  void whatTheServerLacksIsToldWithItsCure() {
    version = 140_000;
    expect("error  PostgreSQL: version 14 is too old");
    version = 190_000;
    expect("warning  PostgreSQL: version 19 is newer");
    version = 150_000;
    encoding = "SQL_ASCII";
    expect("error  PostgreSQL: the database's encoding is SQL_ASCII");
    encoding = "UTF8";
    guard = 0;
    expect("error  PostgreSQL: idle_in_transaction_session_timeout");
    guard = 1;
    connections = 59;
    expect("warning  PostgreSQL: max_connections=59");
  }

  @Test
  void whatALossWouldCostIsAWarning() {
    durable = false;
    expect("warning  PostgreSQL: fsync or full_page_writes is off");
    durable = true;
    synchronous = "off";
    expect("warning  PostgreSQL: synchronous_commit=off");
  }

  @Test
  void withoutLogicalLogOnlyARelayCanNotWork() {
    walLevel = "replica";
    List<Finding> found = findings(CURRENT);
    assertThat(found)
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.stops(Concern.RELAY)).isTrue();
              assertThat(one.stops(Concern.INGEST)).isFalse();
            });
  }

  @Test
  void slotsWithoutLimitOrRoomAreWarnings() {
    keep = -1;
    expect("warning  PostgreSQL: max_slot_wal_keep_size has no limit");
    keep = 0;
    slots = 10;
    expect("warning  PostgreSQL: all of max_replication_slots=10 are taken");
  }

  @Test
  void limitsThatLetNothingInAreWarnings() {
    maxBytes = 99_999;
    expect("warning  limits: the whole ledger's");
    maxBytes = 100_000;
    tenantBytes = 99_999L;
    expect("warning  limits: a tenant's defaults");
    tenantBytes = 100_000L;
    above = 2;
    expect("warning  limits: 2 tenants may hold more");
    above = 0;
    tenants = 9;
    expect("warning  limits: 9 tenants of max_tenants=10");
    tenants = 8;
    kinds = 0;
    expect("warning  kinds: none is defined");
  }

  @Test
  void clocksThatDifferAreAWarning() {
    clock = NOW.plusMillis(1_001);
    expect("warning  clock: this machine's is 1001 ms off");
    clock = NOW.minusMillis(1_000);
    assertThat(lines(CURRENT)).isEmpty();
  }

  @Test
  void sizesThatAClientIsToldMustFitAPayload() {
    assertThat(ClientRules.judge(Map.of("bootstrap.servers", "x"), 100_000)).isEmpty();
    assertThat(ClientRules.judge(Map.of("fetch.max.bytes", "99999"), 100_000))
        .singleElement()
        .extracting(Finding::line)
        .asString()
        .startsWith("warning  kafka.fetch.max.bytes: 99999 bytes");
    assertThat(ClientRules.judge(Map.of("max.partition.fetch.bytes", "100000"), 100_000)).isEmpty();
    assertThat(ClientRules.judge(Map.of("max.request.size", "100000"), 100_000))
        .singleElement()
        .satisfies(one -> assertThat(one.stops(Concern.RELAY)).isTrue());
  }

  private void expect(String start) {
    assertThat(lines(CURRENT)).singleElement().asString().startsWith(start);
  }

  private List<String> lines(SchemaState schema) {
    return findings(schema).stream().map(Finding::line).toList();
  }

  private List<Finding> findings(SchemaState schema) {
    Preconditions facts =
        new Preconditions(
            version,
            walLevel,
            keep,
            10,
            slots,
            connections,
            synchronous,
            durable,
            encoding,
            guard,
            100_000,
            tenantTasks,
            tenantBytes,
            10,
            maxTasks,
            maxBytes,
            tenants,
            above,
            clock);
    List<Finding> found = new ArrayList<>(LedgerRules.judge(schema));
    found.addAll(LedgerRules.judge(facts, kinds, 20, NOW));
    return found;
  }
}
