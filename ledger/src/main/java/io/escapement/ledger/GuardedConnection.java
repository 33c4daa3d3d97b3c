package io.escapement.ledger;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

/** A connection that lets a handler write and read, and refuses to end the transaction. */
final class GuardedConnection {

  private static final Set<String> REFUSED =
      Set.of("commit", "rollback", "setAutoCommit", "close", "abort", "unwrap", "setReadOnly");

  private GuardedConnection() {}

  static Connection around(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            GuardedConnection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (REFUSED.contains(method.getName())) {
                throw new SQLException(
                    method.getName()
                        + " is refused: the handler's writes commit with its task's completion");
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
              }
            });
  }
}
