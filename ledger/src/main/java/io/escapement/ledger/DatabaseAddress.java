package io.escapement.ledger;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * The parts of a JDBC address, for a client that wants them one by one.
 *
 * @param parameters the address's other parameters, such as {@code sslmode}
 */
public record DatabaseAddress(
    String host, int port, String database, Map<String, String> parameters) {

  private static final String SCHEME = "jdbc:postgresql:";
  private static final int DEFAULT_PORT = 5432;

  public DatabaseAddress {
    parameters = Map.copyOf(parameters);
  }

  /**
   * Takes a JDBC address apart; of several hosts, the first.
   *
   * @throws LedgerUnavailableException if it can't be read
   */
  public static DatabaseAddress of(LedgerConfig config) {
    String rest = config.url().substring(SCHEME.length());
    Map<String, String> parameters = new TreeMap<>();
    int question = rest.indexOf('?');
    if (question >= 0) {
      parameters(rest.substring(question + 1), parameters);
      rest = rest.substring(0, question);
    }
    String hosts = "localhost";
    if (rest.startsWith("//")) {
      int slash = rest.indexOf('/', 2);
      hosts = slash < 0 ? rest.substring(2) : rest.substring(2, slash);
      rest = slash < 0 ? "" : rest.substring(slash + 1);
    }
    String database = decoded(rest.isEmpty() ? config.user() : rest);
    return withHost(config, hosts.split(",", 2)[0], database, parameters);
  }

  private static DatabaseAddress withHost(
      LedgerConfig config, String host, String database, Map<String, String> parameters) {
    // The last colon that is not inside an IPv6 address's brackets.
    int colon = host.lastIndexOf(':');
    if (colon <= host.lastIndexOf(']')) {
      return new DatabaseAddress(host, DEFAULT_PORT, database, parameters);
    }
    try {
      int port = Integer.parseInt(host.substring(colon + 1));
      return new DatabaseAddress(host.substring(0, colon), port, database, parameters);
    } catch (NumberFormatException e) {
      throw new LedgerUnavailableException(
          "ledger.url '"
              + config.url()
              + "' can't be read; write jdbc:postgresql://host:port/database",
          e);
    }
  }

  private static void parameters(String query, Map<String, String> into) {
    for (String one : query.split("&", -1)) {
      int equals = one.indexOf('=');
      if (equals > 0) {
        into.put(one.substring(0, equals), decoded(one.substring(equals + 1)));
      }
    }
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
