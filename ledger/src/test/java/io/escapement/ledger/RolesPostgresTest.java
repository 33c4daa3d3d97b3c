package io.escapement.ledger;

import static io.escapement.ledger.Role.DISPATCHER;
import static io.escapement.ledger.Role.INGEST;
import static io.escapement.ledger.Role.OPERATOR;
import static io.escapement.ledger.Role.READER;
import static io.escapement.ledger.Role.RELAY;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Who may do what: the lists below, and nothing else. Every role, on a login of its own, tries
 * everything that there is in the schema.
 */
class RolesPostgresTest {

  private static final Set<Role> EVERYBODY = EnumSet.allOf(Role.class);
  private static final Set<Role> NOBODY = EnumSet.noneOf(Role.class);
  private static final Set<Role> WATCHERS = Set.of(OPERATOR, READER);

  /** Who may call a function; NOBODY: it is internal. */
  private static final Map<String, Set<Role>> FUNCTIONS =
      Map.ofEntries(
          entry("admit", Set.of(INGEST)),
          entry("advance_positions", NOBODY),
          entry("ask_from", NOBODY),
          entry("audit", WATCHERS),
          entry("cancel", Set.of(OPERATOR)),
          entry("claim", Set.of(DISPATCHER)),
          entry("claim_due", Set.of(DISPATCHER)),
          entry("claimed_by", Set.of(DISPATCHER)),
          entry("clock", EVERYBODY),
          entry("command", Set.of(OPERATOR)),
          entry("command_arguments", NOBODY),
          entry("command_parameters", NOBODY),
          entry("cut", NOBODY),
          entry("decayed", NOBODY),
          entry("define_channel", Set.of(OPERATOR)),
          entry("define_kind", Set.of(OPERATOR)),
          entry("fence", Set.of(DISPATCHER)),
          entry("field", NOBODY),
          entry("fits_action", NOBODY),
          entry("fold", Set.of(DISPATCHER, OPERATOR)),
          entry("fold_locked", NOBODY),
          entry("forget", Set.of(DISPATCHER)),
          entry("hint_line", NOBODY),
          entry("hold_positions", NOBODY),
          entry("horizon", Set.of(DISPATCHER)),
          entry("lanes_of", Set.of(DISPATCHER)),
          entry("unserved", Set.of(DISPATCHER)),
          entry("is_choosy", NOBODY),
          entry("leased", NOBODY),
          entry("move_position", Set.of(OPERATOR)),
          entry("observe", Set.of(DISPATCHER)),
          entry("open_lanes", NOBODY),
          entry("outcome", Set.of(DISPATCHER, OPERATOR)),
          entry("outcome_line", NOBODY),
          entry("pause", Set.of(OPERATOR)),
          entry("positions", Set.of(INGEST, OPERATOR)),
          entry("prunable_outbox", Set.of(RELAY)),
          entry("prune_outbox", Set.of(RELAY)),
          entry("local_channels", NOBODY),
          entry("log_snapshot", Set.of(RELAY)),
          entry("quarantine", Set.of(OPERATOR)),
          entry("recipient", NOBODY),
          entry("reclaim", Set.of(DISPATCHER)),
          entry("record_action", NOBODY),
          entry("redrive", Set.of(OPERATOR)),
          entry("redrive_all", Set.of(OPERATOR)),
          entry("renew", Set.of(DISPATCHER)),
          entry("reschedule", Set.of(OPERATOR)),
          entry("resolve", Set.of(OPERATOR)),
          entry("resolve_all", Set.of(OPERATOR)),
          entry("resume", Set.of(OPERATOR)),
          entry("retire", Set.of(OPERATOR)),
          entry("retry_after", NOBODY),
          entry("rule_key", NOBODY),
          entry("run_command", NOBODY),
          entry("serves", NOBODY),
          entry("set_limits", Set.of(OPERATOR)),
          entry("set_preference", Set.of(OPERATOR)),
          entry("set_tenant", Set.of(OPERATOR)),
          entry("settle", NOBODY),
          entry("slot_state", Set.of(RELAY, OPERATOR, READER)),
          entry("submit", Set.of(INGEST, OPERATOR)),
          entry("suspend", Set.of(DISPATCHER)),
          entry("take_seats", NOBODY),
          entry("task_ids", NOBODY),
          entry("task_line", NOBODY));

  /** Who may read a table or a view. Nobody may do anything else to any of them. */
  private static final Map<String, Set<Role>> READABLE =
      Map.ofEntries(
          entry("attempt", NOBODY),
          entry("attempts", WATCHERS),
          entry("budget", NOBODY),
          entry("channel", NOBODY),
          entry("effect", NOBODY),
          entry("flyway_schema_history", NOBODY),
          entry("ingest_position", NOBODY),
          entry("intent", NOBODY),
          entry("kind", NOBODY),
          entry("ledger", NOBODY),
          entry("operator_action", NOBODY),
          entry("outbox", Set.of(RELAY)),
          entry("pause", NOBODY),
          entry("preference", NOBODY),
          entry("release_slip", NOBODY),
          entry("retention", NOBODY),
          entry("rule", NOBODY),
          entry("task", NOBODY),
          // views
          entry("actions", WATCHERS),
          entry("backlog", WATCHERS),
          entry("backlog_by_age", WATCHERS),
          entry("budgets", WATCHERS),
          entry("channels", EVERYBODY),
          entry("contradicted", WATCHERS),
          entry("in_flight", WATCHERS),
          entry("ingest_positions", WATCHERS),
          entry("kinds", EVERYBODY),
          entry("lateness", WATCHERS),
          entry("ledger_counts", WATCHERS),
          entry("migrations", EVERYBODY),
          entry("needs_review", WATCHERS),
          entry("paused", WATCHERS),
          entry("preconditions", EVERYBODY),
          entry("quarantine", WATCHERS),
          entry("relay_lag", WATCHERS),
          entry("settings", EVERYBODY),
          entry("task_counts", WATCHERS),
          entry("tenants", Set.of(DISPATCHER, OPERATOR, READER)));

  private static final String MAY_NOT = "42501";
  private static final String WHERE_TO_ADD =
      "say in RolesPostgresTest.%s who may use it (NOBODY, if it is internal)";

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
  void whatThereIsStandsInTheLists() {
    assertThat(
            db.column(
                "select proname from pg_proc where pronamespace = 'escapement'::regnamespace"))
        .as(WHERE_TO_ADD, "FUNCTIONS")
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(FUNCTIONS.keySet());
    assertThat(relations("'r', 'p', 'v', 'm', 'f'"))
        .as(WHERE_TO_ADD, "READABLE")
        .containsExactlyInAnyOrderElementsOf(READABLE.keySet());
  }

  @Test
  void eachRoleCallsItsFunctionsAndNoOther() throws SQLException {
    List<String> calls =
        db.column(
            """
            select p.proname || ' ' || format('select escapement.%I(%s)', p.proname, (
              select string_agg('null::' || format_type(t, null), ', ' order by n)
              from unnest(p.proargtypes::oid[]) with ordinality a(t, n)))
            from pg_proc p where p.pronamespace = 'escapement'::regnamespace
            """);
    Set<String> wrong = new TreeSet<>();
    asEachRole(
        (role, attempt) -> {
          for (String call : calls) {
            int space = call.indexOf(' ');
            String name = call.substring(0, space);
            boolean refused = MAY_NOT.equals(attempt.stateOf(call.substring(space + 1)));
            if (refused == may(FUNCTIONS, name, role)) {
              wrong.add(role + (refused ? " may not call " : " may call ") + name);
            }
          }
        });
    assertThat(wrong).as(WHERE_TO_ADD, "FUNCTIONS").isEmpty();
  }

  @Test
  void eachRoleReadsItsViewsAndNothingElse() throws SQLException {
    List<String> relations = relations("'r', 'p', 'v', 'm', 'f'");
    Set<String> wrong = new TreeSet<>();
    asEachRole(
        (role, attempt) -> {
          for (String relation : relations) {
            @Nullable String state = attempt.stateOf("select * from escapement." + relation);
            boolean works = state == null;
            if (works != may(READABLE, relation, role) || (!works && !MAY_NOT.equals(state))) {
              wrong.add(role + (works ? " may read " : " may not read ") + relation);
            }
          }
        });
    assertThat(wrong).as(WHERE_TO_ADD, "READABLE").isEmpty();
  }

  @Test
  void nobodyWritesATable() throws SQLException {
    List<String> tables = relations("'r', 'p', 'f'");
    Set<String> wrong = new TreeSet<>();
    asEachRole(
        (role, attempt) -> {
          for (String table : tables) {
            String column =
                db.column(
                        "select attname from pg_attribute where attrelid = 'escapement."
                            + table
                            + "'::regclass and attnum > 0 and not attisdropped"
                            + " and attidentity = '' order by attnum desc limit 1")
                    .get(0);
            for (String write :
                List.of(
                    "insert into escapement.%1$s default values",
                    "update escapement.%1$s set %2$s = null",
                    "update escapement.%1$s set %2$s = default where false",
                    "delete from escapement.%1$s",
                    "delete from escapement.%1$s where false",
                    "truncate escapement.%1$s",
                    "lock table escapement.%1$s in access exclusive mode",
                    "select * from escapement.%1$s for update",
                    "merge into escapement.%1$s t using (select 1) u on false"
                        + " when not matched then insert default values",
                    "alter table escapement.%1$s add column x int",
                    "create trigger x before insert on escapement.%1$s for each row"
                        + " execute function suppress_redundant_updates_trigger()",
                    "drop table escapement.%1$s")) {
              String sql = write.formatted(table, column);
              if (!MAY_NOT.equals(attempt.stateOf(sql))) {
                wrong.add(role + ": " + sql);
              }
            }
          }
        });
    assertThat(wrong).isEmpty();
  }

  /** Views that could be written through, and what a statement does not reach. */
  @Test
  void nobodyHoldsAnyOtherPrivilege() {
    assertThat(
            db.column(
                """
                select grantee::text || ' ' || privilege || ' ' || relname
                from unnest(array['escapement_ingest', 'escapement_relay', 'escapement_dispatcher',
                                  'escapement_operator', 'escapement_reader']) grantee
                  cross join pg_class c
                  cross join unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES',
                                          'TRIGGER']) privilege
                where c.relnamespace = 'escapement'::regnamespace and c.relkind in ('r', 'p', 'v')
                  and (has_table_privilege(grantee, c.oid, privilege)
                    or privilege in ('INSERT', 'UPDATE', 'REFERENCES')
                      and has_any_column_privilege(grantee, c.oid, privilege))
                union all
                select grantee::text || ' creates in schema ' || nspname
                from unnest(array['escapement_ingest', 'escapement_relay', 'escapement_dispatcher',
                                  'escapement_operator', 'escapement_reader']) grantee,
                  pg_namespace
                where nspname = 'escapement' and has_schema_privilege(grantee, oid, 'CREATE')
                union all
                select rolname || ' is more than a role' from pg_roles
                where rolname like 'escapement\\_%' and (rolsuper or rolcreaterole or rolcreatedb
                  or rolcanlogin or rolreplication or rolbypassrls)
                union all
                select m.roleid::regrole || ' is granted to ' || m.member::regrole
                from pg_auth_members m
                where m.member::regrole::text in ('escapement_ingest', 'escapement_relay',
                  'escapement_dispatcher', 'escapement_operator', 'escapement_reader')
                """))
        .isEmpty();
  }

  @Test
  void nobodyTouchesASequence() throws SQLException {
    List<String> sequences = relations("'S'");
    assertThat(sequences).contains("task_id", "outbox_id_seq");
    Set<String> wrong = new TreeSet<>();
    asEachRole(
        (role, attempt) -> {
          for (String sequence : sequences) {
            for (String use :
                List.of(
                    "select nextval('escapement.%s')",
                    "select setval('escapement.%s', 1)",
                    "select currval('escapement.%s')",
                    "select * from escapement.%s",
                    "alter sequence escapement.%s restart")) {
              if (!MAY_NOT.equals(attempt.stateOf(use.formatted(sequence)))) {
                wrong.add(role + ": " + use.formatted(sequence));
              }
            }
          }
        });
    assertThat(wrong).isEmpty();
  }

  /** Everybody who can log in is PUBLIC. */
  @Test
  void publicMayNothing() {
    assertThat(
            db.column(
                """
                select 'function ' || p.proname from pg_proc p
                  cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                where p.pronamespace = 'escapement'::regnamespace and a.grantee = 0
                union all
                select 'relation ' || c.relname from pg_class c
                  cross join lateral aclexplode(c.relacl) a
                where c.relnamespace = 'escapement'::regnamespace and a.grantee = 0
                union all
                select 'column ' || t.attname from pg_attribute t
                  join pg_class c on c.oid = t.attrelid
                  cross join lateral aclexplode(t.attacl) a
                where c.relnamespace = 'escapement'::regnamespace and a.grantee = 0
                union all
                select 'schema' from pg_namespace n cross join lateral aclexplode(n.nspacl) a
                where n.nspname = 'escapement' and a.grantee = 0
                """))
        .as("what PUBLIC may; a new function needs 'revoke all on function ... from public'")
        .isEmpty();
  }

  @Test
  void everyFunctionPinsItsSearchPath() {
    assertThat(
            db.column(
                """
                select proname from pg_proc p
                where pronamespace = 'escapement'::regnamespace
                  -- a body in SQL's own syntax holds what it found when it was made
                  and prosqlbody is null
                  and not exists (select from unnest(p.proconfig) s
                                  where s = 'search_path=escapement, pg_temp')
                """))
        .as("functions without: set search_path = escapement, pg_temp")
        .isEmpty();
  }

  @Test
  void whatRolesCallRunsWithItsOwnersRights() {
    assertThat(
            db.column(
                "select proname from pg_proc"
                    + " where pronamespace = 'escapement'::regnamespace and not prosecdef"))
        .as("functions that are not security definer")
        .allSatisfy(name -> assertThat(FUNCTIONS.get(name)).as(name).isEmpty());
  }

  /** The controls: the owner may, and a function made in the usual way would be seen. */
  @Test
  void theOwnerMayAndAnOpenDoorIsSeen() throws SQLException {
    db.execute("delete from escapement.effect");
    db.execute("create function escapement.open_door() returns int language sql return 1");
    assertThatThrownBy(this::whatThereIsStandsInTheLists).hasMessageContaining("FUNCTIONS");
    assertThatThrownBy(this::eachRoleCallsItsFunctionsAndNoOther)
        .hasMessageContaining("READER may call open_door");
    assertThatThrownBy(this::publicMayNothing).hasMessageContaining("open_door");
    db.execute("grant select on escapement.task to escapement_reader");
    assertThatThrownBy(this::eachRoleReadsItsViewsAndNothingElse)
        .hasMessageContaining("READER may read task");
    db.execute("grant update (state) on escapement.task to escapement_dispatcher");
    assertThatThrownBy(this::nobodyHoldsAnyOtherPrivilege)
        .hasMessageContaining("escapement_dispatcher UPDATE task");
  }

  private static boolean may(Map<String, Set<Role>> list, String name, Role role) {
    return list.getOrDefault(name, NOBODY).contains(role);
  }

  private List<String> relations(String kinds) {
    return db.column(
        "select relname from pg_class where relnamespace = 'escapement'::regnamespace"
            + " and relkind in ("
            + kinds
            + ")");
  }

  private interface Attempts {
    void make(Role role, Attempt attempt) throws SQLException;
  }

  /** Logs in as somebody who has this role and is nothing else. */
  private void asEachRole(Attempts attempts) throws SQLException {
    for (Role role : Role.values()) {
      String login = "login_of_" + role.sqlName();
      db.execute(
          """
          do $$ begin
            create role %1$s login in role %2$s;
          exception when duplicate_object then null;
          end $$
          """
              .formatted(login, role.sqlName()));
      try (Connection connection = DriverManager.getConnection(db.config().url(), login, login);
          Statement s = connection.createStatement()) {
        connection.setAutoCommit(false);
        s.execute("set statement_timeout = '20s'");
        attempts.make(role, new Attempt(connection, s));
        connection.rollback();
      }
    }
  }

  /** Tries statements and leaves nothing of them behind. */
  private record Attempt(Connection connection, Statement statement) {

    /** The SQLSTATE of the statement's failure; null: it works. */
    @Nullable String stateOf(String sql) throws SQLException {
      Savepoint before = connection.setSavepoint();
      try {
        statement.execute(sql);
        return null;
      } catch (SQLException e) {
        return e.getSQLState();
      } finally {
        connection.rollback(before);
      }
    }
  }
}
