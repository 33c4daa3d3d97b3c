package io.escapement.ledger;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs the SQL files of the protocol: one call, one statement, one transaction (autocommit).
 *
 * <p>A deadlock or a serialization failure has undone the whole call: it is made again, {@value
 * #MAX_CALLS} times in all.
 *
 * <p>Thread rule: any thread. Failure: {@link LedgerException}.
 */
final class Statements {

  /** Sets a statement's parameters, in order. */
  @FunctionalInterface
  interface Binder {
    void bind(Parameters parameters) throws SQLException;
  }

  /** Turns one row into a value. */
  @FunctionalInterface
  interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private static final int MAX_CALLS = 5;
  private static final long LONGEST_PAUSE_NANOS = 20_000_000;
  private static final Set<String> UNDONE = Set.of("40001", "40P01");

  private final DataSource source;

  Statements(DataSource source) {
    this.source = source;
  }

  /**
   * The text of a call, read when its operation is constructed, so that a missing file fails the
   * start.
   */
  static String load(String name) {
    String path = "call/" + name + ".sql";
    try (InputStream file = Statements.class.getResourceAsStream(path)) {
      if (file == null) {
        throw new IllegalStateException("the SQL file " + path + " is missing");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  <T> List<T> query(String what, String sql, Binder binder, RowReader<T> reader) {
    int calls = 1;
    while (true) {
      try (Connection connection = source.getConnection()) {
        return query(connection, sql, binder, reader);
      } catch (SQLException e) {
        if (!UNDONE.contains(e.getSQLState()) || calls == MAX_CALLS) {
          throw new LedgerException(what, e);
        }
        // Those who deadlocked should not meet again at once.
        LockSupport.parkNanos(
            ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_NANOS * calls / MAX_CALLS));
        calls++;
      }
    }
  }

  <T> T one(String what, String sql, Binder binder, RowReader<T> reader) {
    List<T> rows = query(what, sql, binder, reader);
    if (rows.size() != 1) {
      throw new LedgerException(what + ": one row was expected, not " + rows.size());
    }
    return rows.get(0);
  }

  void run(String what, String sql, Binder binder) {
    query(what, sql, binder, row -> 0);
  }

  static <T> List<T> query(Connection connection, String sql, Binder binder, RowReader<T> reader)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      binder.bind(new Parameters(connection, statement));
      try (ResultSet rows = statement.executeQuery()) {
        List<T> values = new ArrayList<>();
        while (rows.next()) {
          values.add(reader.read(rows));
        }
        return values;
      }
    }
  }

  Connection connection() throws SQLException {
    return source.getConnection();
  }

  static Instant instant(ResultSet row, String column) throws SQLException {
    return Objects.requireNonNull(optionalInstant(row, column), column);
  }

  static @Nullable Instant optionalInstant(ResultSet row, String column) throws SQLException {
    OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }

  static String text(ResultSet row, String column) throws SQLException {
    return Objects.requireNonNull(row.getString(column), column);
  }

  /** A statement's parameters; each call sets the next one. */
  static final class Parameters {
    private final Connection connection;
    private final PreparedStatement statement;
    private int next = 1;

    private Parameters(Connection connection, PreparedStatement statement) {
      this.connection = connection;
      this.statement = statement;
    }

    Parameters millis(@Nullable Duration value) throws SQLException {
      if (value == null) {
        statement.setNull(next++, Types.BIGINT);
      } else {
        statement.setLong(next++, value.toMillis());
      }
      return this;
    }

    Parameters optionalNumber(@Nullable Long value) throws SQLException {
      if (value == null) {
        statement.setNull(next++, Types.BIGINT);
      } else {
        statement.setLong(next++, value);
      }
      return this;
    }

    Parameters text(@Nullable String value) throws SQLException {
      statement.setString(next++, value);
      return this;
    }

    Parameters number(long value) throws SQLException {
      statement.setLong(next++, value);
      return this;
    }

    Parameters integer(int value) throws SQLException {
      statement.setInt(next++, value);
      return this;
    }

    Parameters decimal(double value) throws SQLException {
      statement.setDouble(next++, value);
      return this;
    }

    Parameters uuid(UUID value) throws SQLException {
      statement.setObject(next++, value);
      return this;
    }

    Parameters bytes(byte @Nullable [] value) throws SQLException {
      statement.setBytes(next++, value);
      return this;
    }

    Parameters flag(boolean value) throws SQLException {
      statement.setBoolean(next++, value);
      return this;
    }

    Parameters instant(@Nullable Instant value) throws SQLException {
      if (value == null) {
        statement.setNull(next++, Types.TIMESTAMP_WITH_TIMEZONE);
      } else {
        statement.setObject(next++, OffsetDateTime.ofInstant(value, ZoneOffset.UTC));
      }
      return this;
    }

    /** An array, or null for none. */
    Parameters optionalArray(String type, @Nullable Collection<?> values) throws SQLException {
      if (values == null) {
        statement.setNull(next++, Types.ARRAY);
        return this;
      }
      return array(type, values);
    }

    /** An array of a PostgreSQL type: text, int4, int8, uuid, bytea. */
    Parameters array(String type, Collection<?> values) throws SQLException {
      Object[] elements = type.equals("bytea") ? values.toArray(byte[][]::new) : values.toArray();
      statement.setArray(next++, connection.createArrayOf(type, elements));
      return this;
    }
  }
}
