package io.escapement.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Asks of which kinds and on which channels tasks are. */
final class Lanes {

  private final Statements statements;
  private final String lanesOf = Statements.load("lanes_of");
  private final String unserved = Statements.load("unserved");

  Lanes(Statements statements) {
    this.statements = statements;
  }

  Map<Long, Lane> of(Collection<Long> tasks) {
    Map<Long, Lane> lanes = new HashMap<>();
    statements.query(
        "lanes_of",
        lanesOf,
        p -> p.array("int8", tasks),
        row -> lanes.put(row.getLong("task_id"), lane(row)));
    return lanes;
  }

  List<UnservedLane> unserved(String queue, WorkFilter work) {
    Collection<String> kinds = work.kinds();
    Collection<String> channels = work.channels();
    if (kinds == null || channels == null) {
      return List.of();
    }
    return statements.query(
        "unserved",
        unserved,
        p -> p.text(queue).array("text", kinds).array("text", channels),
        row -> new UnservedLane(lane(row), Statements.instant(row, "due_since")));
  }

  private static Lane lane(ResultSet row) throws SQLException {
    return new Lane(Statements.text(row, "kind"), Statements.text(row, "channel"));
  }
}
