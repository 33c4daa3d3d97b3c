package io.escapement.ledger;

import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Makes the commits of a face's operations visible: what runs there in a transaction of its own
 * (autocommit) runs in one that is begun and committed here, with something to happen before and
 * after.
 */
record CommitBoundary(Step opened, Step before, Step after) {

  /** Something to happen; it may stand still, or end the process. */
  @FunctionalInterface
  interface Step extends Serializable {
    void take(Connection connection) throws SQLException;
  }

  private static final Step NOTHING = connection -> {};

  static CommitBoundary before(Step step) {
    return new CommitBoundary(NOTHING, step, NOTHING);
  }

  static CommitBoundary after(Step step) {
    return new CommitBoundary(NOTHING, NOTHING, step);
  }

  static CommitBoundary none() {
    return new CommitBoundary(NOTHING, NOTHING, NOTHING);
  }

  /** The same, with something to happen as each transaction begins. */
  CommitBoundary opening(Step step) {
    return new CommitBoundary(step, before, after);
  }

  DataSource around(DataSource source) {
    return (DataSource)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              Object answer = invoke(() -> method.invoke(source, arguments));
              return answer instanceof Connection connection ? around(connection) : answer;
            });
  }

  private Connection around(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    opened.take(connection);
    boolean[] explicit = {false};
    return (Connection)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "setAutoCommit" -> explicit[0] = true;
                case "commit" -> commit(connection);
                case "close" -> {
                  if (!explicit[0]) {
                    commit(connection);
                  }
                  connection.close();
                }
                default -> {
                  return invoke(() -> method.invoke(connection, arguments));
                }
              }
              return null;
            });
  }

  private void commit(Connection connection) throws SQLException {
    before.take(connection);
    connection.commit();
    after.take(connection);
  }

  private static Object invoke(java.util.concurrent.Callable<Object> call) throws Throwable {
    try {
      return call.call();
    } catch (InvocationTargetException e) {
      throw Objects.requireNonNullElse(e.getCause(), e);
    }
  }
}
