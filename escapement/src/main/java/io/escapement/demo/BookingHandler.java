package io.escapement.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.escapement.dispatcher.HandlerResult;
import io.escapement.dispatcher.Task;
import io.escapement.dispatcher.TransactionalHandler;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Writes a table of its own in the transaction that completes the task: the row is there if and
 * only if the task is done, and once.
 */
public final class BookingHandler implements TransactionalHandler {

  static final String KIND = "demo.booking.close";

  /** The table that it writes. */
  static final String TABLE = "demo.closed_booking";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CLOSE =
      "insert into " + TABLE + " (task, tenant, booking) values (?, ?, ?)";

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public HandlerResult handle(Task task, Connection connection) throws SQLException {
    JsonNode booking;
    try {
      booking = JSON.readTree(task.data()).get("number");
    } catch (IOException e) {
      return HandlerResult.poisoned("the event's data is not JSON: " + e.getMessage());
    }
    if (booking == null || !booking.canConvertToLong()) {
      return HandlerResult.poisoned("the event's data has no booking number");
    }
    try (PreparedStatement close = connection.prepareStatement(CLOSE)) {
      close.setLong(1, task.id());
      close.setString(2, task.tenant());
      close.setLong(3, booking.longValue());
      close.executeUpdate();
    }
    return HandlerResult.done(task.data());
  }
}
