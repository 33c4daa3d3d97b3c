package io.escapement.ledger;

import java.time.Duration;

/**
 * Where the ledger is and how to connect.
 *
 * @param url JDBC address, {@code jdbc:postgresql://host:port/database}
 * @param user the login; it must be a member of the roles of the services that use it
 * @param password its password; empty if the server asks for none
 * @param poolSize most connections of this process, 1 to 200
 * @param connectTimeout how long to wait for a connection before giving up
 * @param statementTimeout the server ends a statement that takes longer
 * @param lockTimeout the server ends a statement that waits longer for a lock
 */
public record LedgerConfig(
    String url,
    String user,
    String password,
    int poolSize,
    Duration connectTimeout,
    Duration statementTimeout,
    Duration lockTimeout) {

  public LedgerConfig {
    if (!url.startsWith("jdbc:postgresql:")) {
      throw new IllegalArgumentException(
          "ledger.url is '" + url + "'; it must start with jdbc:postgresql:");
    }
    if (poolSize < 1 || poolSize > 200) {
      throw new IllegalArgumentException("ledger.pool is " + poolSize + "; it must be 1 to 200");
    }
  }

  /** The defaults for everything but the address and the login. */
  public static LedgerConfig of(String url, String user, String password) {
    return new LedgerConfig(
        url,
        user,
        password,
        8,
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        Duration.ofSeconds(10));
  }

  /** The same with another pool size. */
  public LedgerConfig withPoolSize(int connections) {
    return new LedgerConfig(
        url, user, password, connections, connectTimeout, statementTimeout, lockTimeout);
  }

  @Override
  public String toString() {
    return "LedgerConfig[url="
        + url
        + ", user="
        + user
        + ", password="
        + (password.isEmpty() ? "(none)" : "***")
        + ", poolSize="
        + poolSize
        + ", connectTimeout="
        + connectTimeout
        + ", statementTimeout="
        + statementTimeout
        + ", lockTimeout="
        + lockTimeout
        + "]";
  }
}
