package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whatever else is in the database, or in its caller's session, a function uses what it means. */
class SearchPathPostgresTest {

  private static final String LOGIN = "hostile_login";

  /** What the functions call by its bare name, so that a look-alike would be called instead. */
  private static final List<String> BUILT_IN =
      List.of(
          "now() returns timestamptz",
          "clock_timestamp() returns timestamptz",
          "random() returns double precision",
          "octet_length(text) returns int",
          "octet_length(bytea) returns int",
          "chr(int) returns text",
          "lower(text) returns text",
          "left(text, int) returns text",
          "replace(text, text, text) returns text",
          "translate(text, text, text) returns text",
          "encode(bytea, text) returns text",
          "starts_with(text, text) returns boolean",
          "hashtextextended(text, bigint) returns bigint",
          "nextval(regclass) returns bigint",
          "power(double precision, double precision) returns double precision",
          "pg_current_xact_id() returns xid8",
          "pg_current_wal_insert_lsn() returns pg_lsn",
          "cardinality(anyarray) returns int",
          "unnest(anyarray) returns setof anyelement",
          "array_position(anycompatiblearray, anycompatible) returns int",
          "array_to_string(anyarray, text) returns text",
          "string_to_array(text, text) returns text[]",
          "generate_series(int, int) returns setof int",
          "generate_subscripts(anyarray, int) returns setof int");

  private static final List<String> OPERATORS =
      List.of(
          "= text text boolean",
          "<> text text boolean",
          "|| text text text",
          "= bigint bigint boolean",
          "+ bigint bigint bigint",
          "- bigint bigint bigint",
          "= int int boolean",
          "<= timestamptz timestamptz boolean",
          "> timestamptz timestamptz boolean",
          "+ timestamptz interval timestamptz",
          "<= escapement.task_state escapement.task_state boolean",
          "= escapement.task_state escapement.task_state boolean");

  private final TestLedger db = TestLedger.createEmpty();

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void nothingDependsOnTheSchemaPublic() {
    Migrator.migrate(db.config());
    assertThat(
            db.column(
                """
                select pg_describe_object(d.classid, d.objid, d.objsubid) || ' on '
                    || pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
                from pg_depend d
                  cross join lateral pg_identify_object(d.classid, d.objid, d.objsubid) o
                  cross join lateral pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) r
                where o.schema = 'escapement'
                  and (r.schema = 'public' or r.type = 'schema' and r.name = 'public')
                union all
                select 'the body of ' || proname from pg_proc
                where pronamespace = 'escapement'::regnamespace and prosrc ~ '\\mpublic\\.'
                """))
        .isEmpty();
  }

  @Test
  void aDatabaseWithoutTheSchemaPublicIsGoodEnough() throws SQLException {
    db.execute("drop schema public cascade");
    Migrator.migrate(db.config());
    try (Connection connection = db.connection()) {
      MainPath.walk(connection);
    }
  }

  @Test
  void theSchemaPublicMayGoLater() throws SQLException {
    Migrator.migrate(db.config());
    db.execute("drop schema public cascade");
    try (Connection connection = db.connection()) {
      MainPath.walk(connection);
    }
    assertThat(Migrator.migrate(db.config())).isZero();
  }

  @Test
  void lookAlikesThatWereInPublicBeforeAreNotUsed() throws SQLException {
    lookAlikes("public");
    Migrator.migrate(db.config());
    try (Connection connection = db.connection()) {
      MainPath.walk(connection);
    }
  }

  @Test
  void aCallersTablesFunctionsAndOperatorsAreNotUsed() throws SQLException {
    Migrator.migrate(db.config());
    lookAlikes("hostile");
    lookAlikes("public");
    try (Connection connection = hostileSession()) {
      MainPath.walk(connection);
    }
  }

  /** The control: a function that pins nothing is led astray by the same session. */
  @Test
  void aFunctionWithoutASearchPathWouldBeLedAstray() throws SQLException {
    Migrator.migrate(db.config());
    db.execute(
        """
        create function escapement.count_tasks() returns bigint
          language plpgsql security definer as 'begin return (select count(*) from task); end';
        create function escapement.what_time() returns timestamptz
          language plpgsql security definer as 'begin return now(); end';
        grant execute on function escapement.count_tasks, escapement.what_time to public;
        """);
    lookAlikes("hostile");
    try (Connection connection = hostileSession();
        Statement s = connection.createStatement()) {
      s.execute("set role escapement_reader");
      assertThatThrownBy(() -> s.execute("select escapement.what_time()"))
          .hasMessageContaining("led astray");
      s.execute("set search_path = pg_temp, escapement");
      try (ResultSet row = s.executeQuery("select escapement.count_tasks()")) {
        assertThat(row.next()).isTrue();
        // the caller's own table, made and filled by the caller
        assertThat(row.getLong(1)).isEqualTo(1);
      }
    }
  }

  /**
   * Tables, functions and operators that bear the names of the schema's own and of the server's;
   * whoever meets one of them fails.
   */
  private void lookAlikes(String schema) {
    db.execute("create schema if not exists " + schema);
    boolean migrated = db.column("select to_regnamespace('escapement')").contains("escapement");
    String body = " language plpgsql as $$ begin raise exception 'led astray'; end $$";
    List<String> statements = new ArrayList<>();
    for (String relation : relations()) {
      statements.add("create table %s.%s (led_astray int)".formatted(schema, relation));
    }
    for (String function : BUILT_IN) {
      statements.add("create function " + schema + "." + function + body);
    }
    int number = 0;
    for (String operator : OPERATORS) {
      if (!migrated && operator.contains("escapement.")) {
        continue;
      }
      String[] parts = operator.split(" ", -1);
      String name = schema + ".operator_" + number++;
      statements.add(
          "create function %s(%s, %s) returns %s".formatted(name, parts[1], parts[2], parts[3])
              + body);
      statements.add(
          "create operator %s.%s (leftarg = %s, rightarg = %s, function = %s)"
              .formatted(schema, parts[0], parts[1], parts[2], name));
    }
    for (String function :
        named(
            """
        select format('%I(%s)', proname, (
          select string_agg(format_type(t, null), ', ' order by n)
          from unnest(proargtypes::oid[]) with ordinality a(t, n)))
        from pg_proc where pronamespace = 'escapement'::regnamespace
        """)) {
      if (migrated || !function.contains("escapement.")) {
        statements.add("create function " + schema + "." + function + " returns text" + body);
      }
    }
    statements.add("grant usage on schema " + schema + " to public");
    db.execute(String.join(";", statements));
  }

  /** A session whose temporary tables and search path come before everything. */
  private Connection hostileSession() throws SQLException {
    db.execute(
        """
        do $$ begin
          create role %s login in role escapement_ingest, escapement_relay, escapement_dispatcher,
            escapement_operator, escapement_reader;
        exception when duplicate_object then null;
        end $$
        """
            .formatted(LOGIN));
    Connection connection = DriverManager.getConnection(db.config().url(), LOGIN, LOGIN);
    try (Statement s = connection.createStatement()) {
      for (String relation : relations()) {
        s.execute("create temp table " + relation + " (led_astray int)");
        s.execute("insert into pg_temp." + relation + " values (1)");
        s.execute("grant all on pg_temp." + relation + " to public");
      }
      s.execute("set search_path = pg_temp, hostile, public, escapement, pg_catalog");
    }
    return connection;
  }

  private static List<String> relations() {
    return named(
        "select relname from pg_class where relnamespace = 'escapement'::regnamespace"
            + " and relkind in ('r', 'v', 'S') and relname <> 'flyway_schema_history'");
  }

  /** What the schema names, also before this database has it. */
  private static List<String> named(String query) {
    try (TestLedger other = TestLedger.create()) {
      return other.column(query);
    }
  }
}
