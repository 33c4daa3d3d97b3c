package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The command that writes the file anew is in the file. */
class StateMachineDocsPostgresTest {

  private static final Path DOCUMENT = Path.of("..", "docs", "state-machine.md");

  @Test
  void theDocumentedStateMachineIsTheOneThatRuns() throws Exception {
    String expected = StateMachineDocs.render(rules());
    if (Boolean.getBoolean("state-machine.docs.write")) {
      Files.writeString(DOCUMENT, expected);
    }
    assertThat(DOCUMENT)
        .as(
            "write it anew: mvn -pl escapement/embedded,ledger test"
                + " -Dtest=StateMachineDocsPostgresTest -Dsurefire.failIfNoSpecifiedTests=false"
                + " -Dstate-machine.docs.write=true")
        .hasContent(expected);
  }

  private static List<StateMachineDocs.Rule> rules() throws Exception {
    List<StateMachineDocs.Rule> rules = new ArrayList<>();
    try (TestLedger db = TestLedger.create();
        var connection = db.connection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("select * from escapement.rule order by key")) {
      while (row.next()) {
        rules.add(
            new StateMachineDocs.Rule(
                Contract.valueOf(row.getString("contract")),
                row.getString("observation"),
                row.getBoolean("uncertain"),
                row.getBoolean("tries_left"),
                row.getBoolean("cancel_requested"),
                row.getString("exhaustion"),
                row.getString("next_state"),
                row.getString("next_due"),
                row.getBoolean("writes_effect")));
      }
    }
    return rules;
  }
}
