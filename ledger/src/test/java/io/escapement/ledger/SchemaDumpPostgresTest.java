package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code ledger/schema.sql} is what the migrations make; so a change of the schema is seen. */
class SchemaDumpPostgresTest {

  private static final Path COMMITTED =
      Path.of(System.getProperty("basedir", "."), "schema.sql").toAbsolutePath().normalize();

  private TestLedger db;

  @BeforeEach
  void open() {
    db = TestLedger.create();
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void theCommittedSchemaIsWhatTheMigrationsMake() throws SQLException, IOException {
    String made = SchemaDump.of(db);
    if (Boolean.getBoolean("schema.write")) {
      Files.writeString(COMMITTED, made);
      return;
    }
    String committed = Files.exists(COMMITTED) ? Files.readString(COMMITTED) : "";
    if (!made.equals(committed)) {
      fail(
          "%s is not what the migrations make.%n%s%nIf the change is meant, write it anew:%n"
              + "  mvn -pl escapement/embedded,ledger test -Dtest=SchemaDumpPostgresTest"
              + " -Dsurefire.failIfNoSpecifiedTests=false -Dschema.write=true",
          COMMITTED, firstDifference(committed, made));
    }
  }

  /** The control: whatever is changed by hand shows. */
  @Test
  void everyKindOfChangeShows() throws SQLException {
    String before = SchemaDump.of(db);
    for (String change :
        new String[] {
          "grant select on escapement.task to escapement_reader",
          "grant select (id) on escapement.intent to escapement_reader",
          "grant execute on function escapement.settle to escapement_reader",
          "grant create on schema escapement to public",
          "alter table escapement.task alter column bytes drop not null",
          "alter table escapement.task alter column bytes set default 1",
          "alter table escapement.task drop constraint claimed_iff_lease",
          "alter table escapement.task reset (autovacuum_vacuum_scale_factor)",
          "alter table escapement.outbox alter column events set storage extended",
          "drop index escapement.task_lane",
          "alter function escapement.claim reset search_path",
          "alter function escapement.fence security invoker",
          "alter sequence escapement.task_id cache 1",
          "alter publication escapement_outbox set (publish = 'insert, delete')",
          "alter type escapement.task_state add value 'LOST'",
          "create operator escapement.=== (leftarg = int, rightarg = int, function = int4eq)",
          "create trigger t before insert on escapement.task for each row"
              + " execute function suppress_redundant_updates_trigger()",
          "comment on table escapement.task is 'a task'",
        }) {
      db.execute(change);
      String after = SchemaDump.of(db);
      assertThat(after).as(change).isNotEqualTo(before);
      before = after;
    }
  }

  private static String firstDifference(String committed, String made) {
    String[] old = committed.split("\n", -1);
    String[] now = made.split("\n", -1);
    int line = 0;
    while (line < old.length && line < now.length && old[line].equals(now[line])) {
      line++;
    }
    return "The first difference is in line %d:%n  committed: %s%n  made:      %s"
        .formatted(
            line + 1,
            line < old.length ? old[line] : "(end)",
            line < now.length ? now[line] : "(end)");
  }
}
