package io.escapement.doctor;

import static io.escapement.doctor.Finding.ALL;

import io.escapement.ledger.Preconditions;
import io.escapement.ledger.SchemaState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Judges the database by what it says of itself. Thread rule: immutable. Failure: none. */
final class LedgerRules {

  private static final int OLDEST = 15;
  private static final int NEWEST = 18;
  private static final int VERSION_UNIT = 10_000;
  private static final Duration CLOCKS_APART = Duration.ofSeconds(1);
  private static final int SHOWN = 5;

  private LedgerRules() {}

  /** What is wrong with the schema: then nothing else can be judged. */
  static List<Finding> judge(SchemaState schema) {
    List<Finding> found = new ArrayList<>();
    schema(schema, found);
    return found;
  }

  /**
   * What is wrong with the server and the limits.
   *
   * @param poolSize connections that one part may open
   * @param now by this machine's clock, when the facts were read
   */
  static List<Finding> judge(Preconditions facts, int kinds, int poolSize, Instant now) {
    List<Finding> found = new ArrayList<>();
    server(facts, poolSize, found);
    durability(facts, found);
    log(facts, found);
    limits(facts, kinds, found);
    Duration apart = Duration.between(facts.clock(), now).abs();
    if (apart.compareTo(CLOCKS_APART) > 0) {
      found.add(
          Finding.warning(
              "clock",
              "this machine's is "
                  + apart.toMillis()
                  + " ms off the database's, which decides what is due; synchronise both"));
    }
    return found;
  }

  private static void schema(SchemaState schema, List<Finding> found) {
    if (!schema.pending().isEmpty()) {
      found.add(
          Finding.error(
              ALL,
              "schema",
              "lacks " + some(schema.pending()) + " of this version; run escapement migrate"));
    }
    if (!schema.unknown().isEmpty()) {
      found.add(
          Finding.warning(
              "schema",
              "has "
                  + some(schema.unknown())
                  + ", which this program does not know; it is older than the ledger: update it"));
    }
  }

  private static String some(List<String> scripts) {
    String first = String.join(", ", scripts.subList(0, Math.min(SHOWN, scripts.size())));
    return scripts.size() <= SHOWN ? first : first + " and " + (scripts.size() - SHOWN) + " more";
  }

  private static void server(Preconditions facts, int poolSize, List<Finding> found) {
    int version = facts.serverVersion() / VERSION_UNIT;
    if (version < OLDEST) {
      found.add(
          Finding.error(ALL, "PostgreSQL", "version " + version + " is too old; use 15 to 18"));
    } else if (version > NEWEST) {
      found.add(
          Finding.warning(
              "PostgreSQL", "version " + version + " is newer than what was tested, 15 to 18"));
    }
    if (!facts.encoding().equals("UTF8")) {
      found.add(
          Finding.error(
              ALL,
              "PostgreSQL",
              "the database's encoding is "
                  + facts.encoding()
                  + ", which can't hold every request; create it with encoding UTF8"));
    }
    if (facts.shortestGuardMillis() == 0) {
      found.add(
          Finding.error(
              ALL,
              "PostgreSQL",
              "idle_in_transaction_session_timeout or client_connection_check_interval is not in"
                  + " force, so that a stopped process could stop the others; let the login set"
                  + " both, and connect without a pooler that resets them"));
    }
    if (facts.maxConnections() < 3L * poolSize) {
      found.add(
          Finding.warning(
              "PostgreSQL",
              "max_connections="
                  + facts.maxConnections()
                  + " is less than three parts with ledger.pool="
                  + poolSize
                  + " may open; raise the one or lower the other"));
    }
  }

  private static void durability(Preconditions facts, List<Finding> found) {
    if (!facts.durable()) {
      found.add(
          Finding.warning(
              "PostgreSQL",
              "fsync or full_page_writes is off: a power cut loses or ruins what was accepted;"
                  + " switch both on"));
    }
    if (facts.synchronousCommit().equals("off")) {
      found.add(
          Finding.warning(
              "PostgreSQL",
              "synchronous_commit=off: a crash loses commits whose receipts are already out; set it"
                  + " to on"));
    }
  }

  private static void log(Preconditions facts, List<Finding> found) {
    if (!facts.walLevel().equals("logical")) {
      found.add(
          Finding.error(
              Set.of(Concern.RELAY),
              "PostgreSQL",
              "wal_level="
                  + facts.walLevel()
                  + ", so that no relay can read the outbox; set wal_level=logical and restart it"));
    }
    if (facts.maxSlotWalKeepMegabytes() < 0) {
      found.add(
          Finding.warning(
              "PostgreSQL",
              "max_slot_wal_keep_size has no limit: a relay that is down long enough fills the disk;"
                  + " set it to what the disk can spare"));
    }
    if (facts.replicationSlots() >= facts.maxReplicationSlots()) {
      found.add(
          Finding.warning(
              "PostgreSQL",
              "all of max_replication_slots="
                  + facts.maxReplicationSlots()
                  + " are taken; raise it if the relay's is not among them"));
    }
  }

  private static void limits(Preconditions facts, int kinds, List<Finding> found) {
    if (facts.maxTasks() == 0 || facts.maxBytes() < facts.maxPayloadBytes()) {
      found.add(
          Finding.warning(
              "limits",
              "the whole ledger's ("
                  + facts.maxTasks()
                  + " tasks, "
                  + facts.maxBytes()
                  + " bytes) have no room for one request of max_payload_bytes="
                  + facts.maxPayloadBytes()
                  + "; raise them with escapement.set_limits"));
    }
    Long tenantTasks = facts.defaultTenantTasks();
    Long tenantBytes = facts.defaultTenantBytes();
    if ((tenantTasks != null && tenantTasks == 0)
        || (tenantBytes != null && tenantBytes < facts.maxPayloadBytes())) {
      found.add(
          Finding.warning(
              "limits",
              "a tenant's defaults have no room for one request of max_payload_bytes="
                  + facts.maxPayloadBytes()
                  + "; raise default_tenant_tasks and default_tenant_bytes in escapement.ledger"));
    }
    if (facts.tenantsAbove() > 0) {
      found.add(
          Finding.warning(
              "limits",
              facts.tenantsAbove()
                  + " tenants may hold more than the whole ledger; lower theirs with"
                  + " escapement.set_tenant or raise escapement.set_limits"));
    }
    if (facts.tenants() >= facts.maxTenants() * 9 / 10) {
      found.add(
          Finding.warning(
              "limits",
              facts.tenants()
                  + " tenants of max_tenants="
                  + facts.maxTenants()
                  + ": new ones will be invalid; raise it in escapement.ledger"));
    }
    if (kinds == 0) {
      found.add(
          Finding.warning(
              "kinds",
              "none is defined, so that every request is invalid; call escapement.define_kind"));
    }
  }
}
