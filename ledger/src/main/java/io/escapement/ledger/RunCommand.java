package io.escapement.ledger;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides one record of the commands topic. */
final class RunCommand {

  private static final String FENCED = "fenced";
  private static final String PASSED = "passed";

  private final Statements statements;
  private final String sql = Statements.load("command");

  RunCommand(Statements statements) {
    this.statements = statements;
  }

  CommandAnswer apply(CommandRecord record) {
    return statements.one("command", sql, p -> bind(p, record), RunCommand::answer);
  }

  private static void bind(Statements.Parameters p, CommandRecord record) throws SQLException {
    PositionAdvance position = record.position();
    PartitionKey partition = position.partition();
    p.text(partition.topic())
        .uuid(partition.topicId())
        .integer(partition.partition())
        .optionalNumber(position.expected())
        .number(position.next());
    switch (record) {
      case CommandRecord.Command c ->
          p.optionalNumber(c.offset())
              .text(null)
              .text(null)
              .text(c.source())
              .text(c.id())
              .text(c.type())
              .text(c.data())
              .bytes(c.value())
              .bytes(c.envelope().encode());
      case CommandRecord.Refused r ->
          p.optionalNumber(r.offset())
              .text(r.decision().word())
              .text(Texts.storable(r.reason(), Limits.DETAIL_BYTES))
              .text(Texts.storable(r.source(), Limits.NAMESPACE_BYTES))
              .text(Texts.storable(r.id(), Limits.ID_BYTES))
              .text(Texts.storable(r.type(), Limits.KIND_BYTES))
              .text(null)
              .bytes(r.value())
              .bytes(r.envelope().encode());
      case CommandRecord.Nothing n ->
          p.optionalNumber(null)
              .text(null)
              .text(null)
              .text(null)
              .text(null)
              .text(null)
              .text(null)
              .bytes(null)
              .bytes(null);
    }
  }

  private static CommandAnswer answer(ResultSet row) throws SQLException {
    String decision = Statements.text(row, "decision");
    return switch (decision) {
      case FENCED -> new CommandAnswer.Fenced();
      case PASSED -> new CommandAnswer.Passed();
      default ->
          new CommandAnswer.Decided(
              CommandDecision.of(decision), row.getString("reason"), results(row));
    };
  }

  private static List<CommandResult> results(ResultSet row) throws SQLException {
    String[] targets = texts(row.getArray("targets"));
    String[] words = texts(row.getArray("results"));
    List<CommandResult> results = new ArrayList<>(targets.length);
    for (int i = 0; i < targets.length; i++) {
      results.add(new CommandResult(targets[i], words[i]));
    }
    return results;
  }

  private static String[] texts(@Nullable Array array) throws SQLException {
    return array == null ? new String[0] : (String[]) array.getArray();
  }
}
