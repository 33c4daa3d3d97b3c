package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Iterator;

/**
 * What admission is measured against: the rows that it writes (intent, task, budgets, one outbox
 * row a transaction with the same events), written by one connection from arrays, a batch a
 * transaction, and nothing else. It asks nothing and decides nothing: no position, no known
 * identity, no limit, no record to parse, and its ids come from a counter of its own.
 *
 * <p>Thread rule: one thread. Failure: {@link LedgerException}.
 */
public final class BareLoop implements AutoCloseable {

  /**
   * What the rows look like.
   *
   * @param source of all events
   * @param kind of all events
   * @param tenants how many share them, named {@code tenant-0} and so on
   * @param valueBytes of each event
   * @param topic that the receipts speak of
   * @param partitions of that topic
   */
  public record Shape(
      String source, String kind, int tenants, int valueBytes, String topic, int partitions) {

    /** The tenant of a number. */
    public String tenant(long number) {
      return "tenant-" + number % tenants;
    }
  }

  private static final String CONTENT_TYPE = "application/octet-stream";
  private static final int SLOTS = 256;

  private final Connection connection;
  private final Shape shape;
  private final PreparedStatement intents;
  private final PreparedStatement tasks;
  private final PreparedStatement budgets;
  private final PreparedStatement outbox;
  private final byte[] value;
  private long nextTask;

  BareLoop(Connection connection, Shape shape) throws SQLException {
    this.connection = connection;
    this.shape = shape;
    connection.setAutoCommit(false);
    this.intents = connection.prepareStatement(BenchSql.load("bare_intent"));
    this.tasks = connection.prepareStatement(BenchSql.load("bare_task"));
    this.budgets = connection.prepareStatement(BenchSql.load("bare_budget"));
    this.outbox = connection.prepareStatement(BenchSql.load("outbox"));
    this.value = "x".repeat(shape.valueBytes()).getBytes(StandardCharsets.UTF_8);
  }

  /** Task ids are counted from here: beyond those that the sequence has given. */
  public void beginAt(long task) {
    nextTask = task;
  }

  /** Writes and commits the rows of a batch of events. */
  public void commit(Iterator<String> eventIds, int batch) {
    Rows rows = new Rows(eventIds, batch);
    try {
      intents.setString(1, shape.source());
      intents.setString(2, shape.kind());
      intents.setString(3, CONTENT_TYPE);
      intents.setArray(4, connection.createArrayOf("int8", rows.ids));
      intents.setArray(5, connection.createArrayOf("text", rows.eventIds));
      intents.setArray(6, connection.createArrayOf("text", rows.tenants));
      intents.setArray(7, connection.createArrayOf("int2", rows.slots));
      intents.setArray(8, connection.createArrayOf("bytea", rows.values));
      intents.setArray(9, connection.createArrayOf("timestamptz", rows.issued));
      intents.executeUpdate();
      tasks.setString(1, shape.kind());
      tasks.setInt(2, shape.valueBytes());
      tasks.setArray(3, connection.createArrayOf("int8", rows.ids));
      tasks.setArray(4, connection.createArrayOf("text", rows.tenants));
      tasks.setArray(5, connection.createArrayOf("int2", rows.slots));
      tasks.executeUpdate();
      outbox.setString(1, rows.events.toString());
      outbox.executeUpdate();
      // Last, so that the rows that all share are held as briefly as can be.
      takeSeats(rows);
      connection.commit();
    } catch (SQLException e) {
      throw new LedgerException("bare loop", e);
    }
  }

  private void takeSeats(Rows rows) throws SQLException {
    int budgeted = shape.tenants() + 1;
    Object[] names = new Object[budgeted];
    Object[] seats = new Object[budgeted];
    Object[] bytes = new Object[budgeted];
    for (int t = 0; t < budgeted; t++) {
      long count = t == 0 ? rows.ids.length : rows.perTenant[t - 1];
      names[t] = t == 0 ? "" : shape.tenant(t - 1);
      seats[t] = count;
      bytes[t] = count * shape.valueBytes();
    }
    budgets.setArray(1, connection.createArrayOf("text", names));
    budgets.setArray(2, connection.createArrayOf("int8", seats));
    budgets.setArray(3, connection.createArrayOf("int8", bytes));
    budgets.executeUpdate();
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new LedgerException("bare loop", e);
    }
  }

  /** The columns of a batch. */
  private final class Rows {
    private final Long[] ids;
    private final String[] eventIds;
    private final String[] tenants;
    private final Short[] slots;
    private final byte[][] values;
    private final OffsetDateTime[] issued;
    private final long[] perTenant = new long[shape.tenants()];
    private final StringBuilder events = new StringBuilder();

    Rows(Iterator<String> from, int batch) {
      ids = new Long[batch];
      eventIds = new String[batch];
      tenants = new String[batch];
      slots = new Short[batch];
      values = new byte[batch][];
      issued = new OffsetDateTime[batch];
      Instant now = Instant.now();
      Arrays.fill(issued, now.atOffset(ZoneOffset.UTC));
      Arrays.fill(values, value);
      long dueMicros = ChronoUnit.MICROS.between(Instant.EPOCH, now);
      for (int i = 0; i < batch; i++) {
        long id = nextTask++;
        ids[i] = id;
        eventIds[i] = from.next();
        tenants[i] = shape.tenant(id);
        perTenant[(int) (id % shape.tenants())]++;
        slots[i] = (short) Math.floorMod(eventIds[i].hashCode(), SLOTS);
        tell(i, id, dueMicros);
      }
    }

    /** The same lines as admission's: a receipt and a hint. */
    private void tell(int i, long id, long dueMicros) {
      events.append(i == 0 ? "" : "\n").append("R\taccepted\t").append(shape.topic()).append('\t');
      events.append(id % shape.partitions()).append('\t').append(id / shape.partitions());
      events.append('\t').append(tenants[i]).append('\t').append(shape.kind()).append('\t');
      events.append(shape.source()).append('\t').append(eventIds[i]).append("\t\\N\t").append(id);
      events.append(":SCHEDULED\nD\tdefault\t").append(id).append('\t').append(tenants[i]);
      events.append('\t').append(slots[i]).append('\t').append(dueMicros);
    }
  }
}
