package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RolesPostgresTest {

  private TestLedger db;

  @BeforeEach
  void open() {
    db = TestLedger.create();
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void noRoleMayWriteATable() throws SQLException {
    List<String> tables =
        db.column(
            "select tablename from pg_tables where schemaname = 'escapement'"
                + " and tablename <> 'flyway_schema_history'");
    assertThat(tables).contains("task", "intent", "effect", "budget", "outbox", "rule");
    try (Connection connection = db.connection();
        Statement s = connection.createStatement()) {
      for (Role role : Role.values()) {
        s.execute("set role " + role.sqlName());
        for (String table : tables) {
          assertThatThrownBy(() -> s.execute("delete from escapement." + table))
              .describedAs("%s deletes from %s", role, table)
              .hasMessageContaining("permission denied");
        }
        s.execute("reset role");
      }
    }
  }

  /** The control: the owner may, so it is the role that is refused and not the statement. */
  @Test
  void theOwnerMay() {
    db.execute("delete from escapement.effect");
  }

  @Test
  void nobodyMayCallWhatIsInternal() throws SQLException {
    List<String> granted =
        db.column(
            """
            select p.proname from pg_proc p
            where p.pronamespace = 'escapement'::regnamespace
              and (has_function_privilege('escapement_ingest', p.oid, 'execute')
                or has_function_privilege('escapement_dispatcher', p.oid, 'execute')
                or has_function_privilege('escapement_operator', p.oid, 'execute')
                or has_function_privilege('escapement_reader', p.oid, 'execute')
                or has_function_privilege('escapement_relay', p.oid, 'execute'))
            """);
    assertThat(granted)
        .contains("admit", "claim", "observe")
        .doesNotContain(
            "settle", "fold_locked", "advance_positions", "leased", "record_action", "field");
  }

  @Test
  void everyDefinersFunctionPinsItsSearchPath() {
    assertThat(
            db.column(
                """
                select proname from pg_proc
                where pronamespace = 'escapement'::regnamespace and prosecdef
                  and not coalesce(proconfig::text, '') like '%search_path=escapement, pg_temp%'
                """))
        .isEmpty();
  }

  @Test
  void eachRoleMayCallItsOwnFunctionsOnly() {
    assertThat(may(Role.INGEST, "admit")).isTrue();
    assertThat(may(Role.INGEST, "claim")).isFalse();
    assertThat(may(Role.INGEST, "cancel")).isFalse();
    assertThat(may(Role.DISPATCHER, "claim")).isTrue();
    assertThat(may(Role.DISPATCHER, "admit")).isFalse();
    assertThat(may(Role.OPERATOR, "cancel")).isTrue();
    assertThat(may(Role.OPERATOR, "observe")).isFalse();
    assertThat(may(Role.READER, "audit")).isTrue();
    assertThat(may(Role.READER, "cancel")).isFalse();
  }

  private boolean may(Role role, String function) {
    return db.column(
            "select has_function_privilege('"
                + role.sqlName()
                + "', oid, 'execute') from pg_proc"
                + " where pronamespace = 'escapement'::regnamespace and proname = '"
                + function
                + "'")
        .contains("t");
  }
}
