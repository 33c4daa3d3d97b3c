package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerConfig;
import java.nio.file.Path;
import java.util.List;

/** A relay in a JVM of its own. Its name is what PostgreSQL shows as its sessions' application. */
final class RelayProcess extends JavaProcess {

  private RelayProcess(String name, List<?> arguments) {
    super(name, Path.of("target", name + ".log"), RelayMain.class, arguments);
  }

  static RelayProcess start(String name, RelayConfig config) {
    return start(name, config, false);
  }

  /**
   * Starts one.
   *
   * @param careless commits the position on its own, some time after the events
   */
  static RelayProcess start(String name, RelayConfig config, boolean careless) {
    LedgerConfig ledger = config.ledger();
    return new RelayProcess(
        name,
        List.of(
            ledger.url() + "?ApplicationName=" + name,
            ledger.user(),
            ledger.password(),
            config.bootstrapServers(),
            config.topics().prefix(),
            config.slot(),
            careless));
  }
}
