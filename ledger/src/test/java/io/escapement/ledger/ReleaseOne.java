package io.escapement.ledger;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.Nullable;

/**
 * The release before this one: its schema, its SQL, word for word, from the test resources, and as
 * much of a client as tests need. For what must go on working while, and after, a ledger is brought
 * to this release.
 */
final class ReleaseOne implements AutoCloseable {

  private static final String HOME = "io/escapement/ledger/release-1/";

  /** One request; null: due now, no expiry, as many attempts as its kind has. */
  record Request(
      String id,
      String kind,
      @Nullable Instant due,
      @Nullable Instant expires,
      @Nullable Integer maxAttempts) {

    static Request of(String id) {
      return new Request(id, "work", null, null, null);
    }
  }

  /** A lease. */
  record Claimed(long task, int attempt, String id) {}

  private final Connection connection;

  private ReleaseOne(Connection connection) {
    this.connection = connection;
  }

  /** Brings an empty database to that release's schema, as its own migrator did. */
  static void migrate(LedgerConfig config) {
    Flyway.configure()
        .dataSource(config.url(), config.user(), config.password())
        .schemas("escapement")
        .defaultSchema("escapement")
        .createSchemas(true)
        .locations("classpath:" + HOME + "migration")
        .validateMigrationNaming(true)
        .load()
        .migrate();
  }

  /** A client under a role; the server ends whatever takes longer than the limit. */
  static ReleaseOne connect(TestLedger db, Role role, Duration limit) throws SQLException {
    Connection connection = db.connection();
    try (Statement s = connection.createStatement()) {
      s.execute("set role " + role.sqlName());
      s.execute("set statement_timeout = " + limit.toMillis());
    }
    return new ReleaseOne(connection);
  }

  void defineKind(String name, int maxAttempts, Duration lease, String exhaustion)
      throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("define_kind"))) {
      s.setString(1, name);
      s.setString(2, "default");
      s.setString(3, "local");
      s.setInt(4, maxAttempts);
      s.setLong(5, lease.toMillis());
      s.setLong(6, Duration.ofHours(1).toMillis());
      s.setLong(7, 0);
      s.setLong(8, 0);
      s.setDouble(9, 0);
      s.setString(10, exhaustion);
      s.setString(11, "test");
      s.execute();
    }
  }

  /** Admits a batch on a partition of its own; the decisions. */
  List<String> admit(List<Request> requests) throws SQLException {
    int n = requests.size();
    try (PreparedStatement s = connection.prepareStatement(call("admit"))) {
      int p = 1;
      s.setArray(p++, array("text", List.of("requests")));
      s.setArray(p++, array("uuid", List.of(UUID.randomUUID())));
      s.setArray(p++, array("int4", List.of(0)));
      s.setArray(p++, array("int8", Collections.singletonList(null)));
      s.setArray(p++, array("int8", List.of((long) n)));
      s.setArray(p++, array("int4", Collections.nCopies(n, 1)));
      s.setArray(p++, array("int8", LongStream.range(0, n).boxed().toList()));
      s.setArray(p++, array("text", Collections.nCopies(n, null)));
      s.setArray(p++, array("text", Collections.nCopies(n, null)));
      s.setArray(p++, array("text", Collections.nCopies(n, "/shop")));
      s.setArray(p++, array("text", requests.stream().map(Request::id).toList()));
      s.setArray(p++, array("text", Collections.nCopies(n, "acme")));
      s.setArray(p++, array("text", requests.stream().map(Request::kind).toList()));
      s.setArray(p++, array("text", Collections.nCopies(n, null)));
      s.setArray(p++, array("int8", Collections.nCopies(n, micros(Instant.now()))));
      s.setArray(p++, array("int8", micros(requests, Request::due)));
      s.setArray(p++, array("int8", micros(requests, Request::expires)));
      s.setArray(p++, array("int4", requests.stream().map(Request::maxAttempts).toList()));
      s.setArray(p++, array("text", Collections.nCopies(n, "text/plain")));
      byte[][] values = new byte[n][];
      byte[][] envelopes = new byte[n][];
      for (int i = 0; i < n; i++) {
        values[i] = requests.get(i).id().getBytes(StandardCharsets.UTF_8);
        envelopes[i] = RecordEnvelope.EMPTY.encode();
      }
      s.setArray(p++, connection.createArrayOf("bytea", values));
      s.setArray(p, connection.createArrayOf("bytea", envelopes));
      return column(s, "decision");
    }
  }

  /** The tasks that are due now. */
  List<Long> due() throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("horizon"))) {
      s.setString(1, "default");
      s.setArray(2, allSlots());
      s.setArray(3, array("text", List.of("work", "strict")));
      s.setObject(4, OffsetDateTime.now(ZoneOffset.UTC));
      s.setInt(5, 2);
      List<Long> tasks = new ArrayList<>();
      try (ResultSet rows = s.executeQuery()) {
        while (rows.next()) {
          long task = rows.getLong("task_id");
          if (!rows.wasNull() && !rows.getBoolean("claimed")) {
            tasks.add(task);
          }
        }
      }
      return tasks;
    }
  }

  /** What could be claimed of these. */
  List<Claimed> claim(String owner, List<Long> tasks) throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("claim"))) {
      s.setString(1, owner);
      s.setArray(2, array("text", List.of("work", "strict")));
      s.setArray(3, array("int8", tasks));
      List<Claimed> claimed = new ArrayList<>();
      try (ResultSet rows = s.executeQuery()) {
        while (rows.next()) {
          if (rows.getString("answer").equals("CLAIMED")) {
            claimed.add(
                new Claimed(
                    rows.getLong("task_id"), rows.getInt("attempt"), rows.getString("event_id")));
          }
        }
      }
      return claimed;
    }
  }

  /** Settles attempts, all in the same way; the answers. The effect of a task is its id. */
  List<String> observe(List<Claimed> attempts, String seen) throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("observe"))) {
      s.setArray(1, array("int8", attempts.stream().map(Claimed::task).toList()));
      s.setArray(2, array("int4", attempts.stream().map(Claimed::attempt).toList()));
      s.setArray(3, array("text", Collections.nCopies(attempts.size(), seen)));
      s.setArray(4, array("text", Collections.nCopies(attempts.size(), "said\tso")));
      byte[][] effects = new byte[attempts.size()][];
      for (int i = 0; i < effects.length; i++) {
        effects[i] = attempts.get(i).id().getBytes(StandardCharsets.UTF_8);
      }
      s.setArray(5, connection.createArrayOf("bytea", effects));
      return column(s, "answer");
    }
  }

  List<String> renew(List<Claimed> attempts) throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("renew"))) {
      s.setArray(1, array("int8", attempts.stream().map(Claimed::task).toList()));
      s.setArray(2, array("int4", attempts.stream().map(Claimed::attempt).toList()));
      return column(s, "answer");
    }
  }

  void reclaim() throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("reclaim"))) {
      s.setString(1, "default");
      s.setArray(2, allSlots());
      s.setInt(3, 100);
      column(s, "task_id");
    }
  }

  void fold() throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("fold"))) {
      column(s, "fold");
    }
  }

  List<String> cancel(String id) throws SQLException {
    try (PreparedStatement s = connection.prepareStatement(call("cancel"))) {
      s.setString(1, "/shop");
      s.setString(2, id);
      s.setString(3, "changed\nmy mind");
      s.setBoolean(4, false);
      return column(s, "result");
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }

  private Array allSlots() throws SQLException {
    return array("int4", TestLedger.ALL_SLOTS);
  }

  private Array array(String type, List<? extends @Nullable Object> values) throws SQLException {
    return connection.createArrayOf(type, values.toArray());
  }

  private static List<String> column(PreparedStatement s, String name) throws SQLException {
    List<String> values = new ArrayList<>();
    try (ResultSet rows = s.executeQuery()) {
      while (rows.next()) {
        values.add(String.valueOf(rows.getString(name)));
      }
    }
    return values;
  }

  private static List<@Nullable Long> micros(
      List<Request> requests, Function<Request, @Nullable Instant> time) {
    List<@Nullable Long> micros = new ArrayList<>();
    for (Request request : requests) {
      Instant instant = time.apply(request);
      micros.add(instant == null ? null : Long.valueOf(micros(instant)));
    }
    return micros;
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  private static String call(String name) {
    String path = "/" + HOME + "call/" + name + ".sql";
    try (InputStream file = ReleaseOne.class.getResourceAsStream(path)) {
      if (file == null) {
        throw new IllegalStateException(path + " is missing");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
