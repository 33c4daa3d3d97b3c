package io.escapement.ledger;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Every row of every table of a ledger, as text: two of these are equal if nothing was changed. */
final class LedgerImage {

  private static final String TABLES =
      "select schemaname || '.' || tablename from pg_tables"
          + " where schemaname in ('escapement', 'public')"
          + " and tablename <> 'flyway_schema_history' order by 1";

  private LedgerImage() {}

  static Map<String, List<String>> of(TestLedger db) {
    Map<String, List<String>> rows = new TreeMap<>();
    try (Connection connection = db.connection();
        Statement s = connection.createStatement()) {
      for (String table : column(s, TABLES)) {
        rows.put(table, column(s, "select t::text from " + table + " t order by 1"));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return rows;
  }

  private static List<String> column(Statement s, String sql) throws SQLException {
    List<String> values = new ArrayList<>();
    try (ResultSet row = s.executeQuery(sql)) {
      while (row.next()) {
        values.add(row.getString(1));
      }
    }
    return values;
  }
}
