package io.escapement.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a server can be relayed from; if not, one line that names the setting and the cure. */
final class RelayServerCheck {

  private static final Logger LOG = LoggerFactory.getLogger(RelayServerCheck.class);

  /** Sessions are opened again and again while something is wrong; once is enough. */
  private static final AtomicBoolean WARNED = new AtomicBoolean();

  private final LedgerConfig config;

  RelayServerCheck(LedgerConfig config) {
    this.config = config;
  }

  /** Reads the answer of {@code relay_server.sql}; empty is the good answer. */
  String problem(ResultSet row) throws SQLException {
    if (row.getBoolean("standby")) {
      return "ledger.url: PostgreSQL at " + config.url() + " is a standby; name the primary";
    }
    if (!"logical".equals(row.getString("wal_level"))) {
      return "wal_level of PostgreSQL at "
          + config.url()
          + " is '"
          + row.getString("wal_level")
          + "'; set wal_level = logical in postgresql.conf and restart it";
    }
    if (!row.getBoolean("published") || !row.getBoolean("role_exists")) {
      return "ledger.url: "
          + config.url()
          + " holds no ledger; run 'escapement migrate' against it first";
    }
    if (!row.getBoolean("member")) {
      return "ledger.user: '"
          + config.user()
          + "' may not relay; grant escapement_relay to \""
          + config.user()
          + "\"";
    }
    if ("-1".equals(row.getString("max_slot_wal_keep_size")) && WARNED.compareAndSet(false, true)) {
      LOG.warn(
          "max_slot_wal_keep_size is not set: while no relay runs, the log that it has not read can"
              + " fill the server's disk");
    }
    return "";
  }
}
