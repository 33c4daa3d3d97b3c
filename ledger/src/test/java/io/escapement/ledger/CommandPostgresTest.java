package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operator functions as records of the commands topic: executed once, one receipt a record. */
class CommandPostgresTest {

  private static final String TOPIC = "commands";

  private final UUID topicId = UUID.randomUUID();
  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;
  private long position;
  private int claims;

  @BeforeEach
  void open() {
    db = TestLedger.create();
    ingest = db.connect(Role.INGEST);
    worker = db.connect(Role.DISPATCHER);
    operator = db.connect(Role.OPERATOR);
  }

  @AfterEach
  void auditAndClose() {
    assertThat(operator.audit()).isEmpty();
    db.close();
  }

  @Test
  void everyFunctionIsExecutedAndWrittenDownOnce() {
    define("mail", "letter");
    long quarantined = submit("quarantined", "work");
    long redriven = submit("redriven", "work");
    operator.quarantine(redriven, "test");
    long redrivenToo = submit("redriven too", "letter");
    operator.quarantine(redrivenToo, "test");
    long moved = submit("moved", "work");
    long resolved = parked("resolved");
    long resolvedToo = parked("resolved too");
    long cancelled = submit("cancelled", "work");
    db.execute("update escapement.attempt set outcome = 'TIMEOUT'");

    Map<String, String[]> each = new LinkedHashMap<>();
    each.put(
        "cancel",
        of(
            "{'namespace':'/test','event_id':'cancelled','unstarted_only':true,'reason':'why'}",
            "/test|cancelled#" + cancelled + "=CANCELLED_UNSTARTED"));
    each.put("quarantine", of("{'task':%d}".formatted(quarantined), quarantined + "=QUARANTINED"));
    each.put(
        "redrive", of("{'task':%d,'attempt':0}".formatted(redriven), redriven + "/0=REDRIVEN"));
    each.put(
        "redrive_all",
        of(
            "{'kind':'letter','channel':'mail','limit':10}",
            redrivenToo + "/0=REDRIVEN",
            "kind letter channel mail outcome any=DONE"));
    each.put(
        "reschedule",
        of(
            "{'task':%d,'attempt':0,'due':'2030-01-01T00:00:00+02:00'}".formatted(moved),
            moved + "/0=RESCHEDULED"));
    each.put(
        "resolve",
        of("{'task':%d,'resolution':'DONE'}".formatted(resolved), resolved + " DONE=DONE"));
    each.put(
        "resolve_all",
        of(
            "{'resolution':'FAILED','kind':'letter','channel':null,'outcome':'TIMEOUT','limit':5}",
            resolvedToo + " FAILED=FAILED",
            "FAILED kind letter channel any outcome TIMEOUT=DONE"));
    each.put("pause", of("{'scope':'tenant','name':'acme'}", "tenant acme=PAUSED"));
    each.put("resume", of("{'scope':'tenant','name':'acme'}", "tenant acme=RESUMED"));
    each.put(
        "set_limits",
        of("{'max_tasks':1000,'max_bytes':2000000}", "global=1000 tasks, 2000000 bytes"));
    each.put(
        "set_tenant",
        of(
            "{'tenant':'acme','max_tasks':10,'max_bytes':20,'weight':3}",
            "acme=10 tasks, 20 bytes, weight 3"));
    each.put(
        "define_kind",
        of(
            "{'name':'new','queue':'q','channels':['mail'],'routing':'PREFERENCE','max_attempts':2,"
                + "'lease':'PT40S','timeout':'1 minute','backoff_base':'2 s','backoff_cap':'10 s',"
                + "'backoff_jitter':0.5,'exhaustion':'QUARANTINED'}",
            "new=DEFINED"));
    each.put(
        "define_channel",
        of(
            "{'name':'bank','contract':'IDEMPOTENT','timeout':'5 s','key_retention':'1 day'}",
            "bank=DEFINED"));
    each.put(
        "set_preference",
        of(
            "{'tenant':'acme','subject':'u','channel':'mail','address':null,'enabled':true,'version':4}",
            "acme|u|mail=SET"));
    UUID topic = UUID.randomUUID();
    db.execute(
        "insert into escapement.ingest_position (topic_id, partition, topic, position)"
            + " values ('%s', 2, 'requests', 40)".formatted(topic));
    each.put(
        "move_position",
        of(
            "{'topic_id':'%s','partition':2,'expected':40,'position':50}".formatted(topic),
            "requests-2 (topic id %s): 40 to 50=MOVED".formatted(topic)));
    each.put("retire", of("{'limit':10}", "10=0 intents, 0 tasks"));
    assertThat(each.keySet())
        .as("every command there is")
        .containsExactlyInAnyOrderElementsOf(commandNames());

    long offset = position;
    for (Map.Entry<String, String[]> one : each.entrySet()) {
      String name = one.getKey();
      String[] expected = one.getValue();
      assertThat(plain(execute("id " + name, name, json(expected[0]))))
          .as(name)
          .isEqualTo(List.of(expected).subList(1, expected.length));
      OutboxEvent.CommandReceipt receipt = receipts().getLast();
      assertThat(receipt)
          .isEqualTo(
              new OutboxEvent.CommandReceipt(
                  CommandDecision.EXECUTED,
                  TOPIC,
                  3,
                  offset++,
                  name,
                  "/ops",
                  "id " + name,
                  null,
                  receipt.results()));
      assertThat(plain(receipt.results())).isEqualTo(plain(stored("id " + name)));
    }
    assertThat(receipts()).hasSize(each.size());
    assertThat(db.column("select distinct event_id from escapement.actions where source = '/ops'"))
        .hasSize(each.size());
    assertThat(
            db.column(
                "select distinct who || ', ' || session_role from escapement.actions"
                    + " where event_id is not null"))
        .containsExactly("/ops (unauthenticated), postgres");
    assertThat(
            db.column("select distinct who from escapement.actions where event_id is null limit 2"))
        .containsExactly("postgres");
    assertThat(db.column("select lease from escapement.kind where name = 'new'"))
        .containsExactly("00:00:40");
    assertThat(db.column("select reason from escapement.actions where target like '%cancelled%'"))
        .containsExactly("why");
  }

  /** The defaults stand in two places; this keeps them equal. */
  @Test
  void aDefinitionWithoutArgumentsIsWhatTheFunctionMakesOfNone() {
    execute("1", "define_kind", json("{'name':'by command'}"));
    db.execute("select escapement.define_kind('by sql')");
    String row =
        "select to_jsonb(k) - 'name' from escapement.kind k where name = '%s'".formatted("by sql");
    assertThat(db.column(row.replace("by sql", "by command"))).isEqualTo(db.column(row));
    for (String function : commandNames()) {
      assertThat(parameters(function))
          .as("the parameters of " + function)
          .containsExactlyInAnyOrderElementsOf(
              db.column(
                  "select name from escapement.command_parameters('%s')".formatted(function)));
    }
  }

  @Test
  void theSameCommandIsExecutedOnce() {
    long task = submit("a", "work");
    operator.quarantine(task, "test");
    String redrive = json("{'task':%d,'attempt':0}".formatted(task));
    List<CommandResult> first = execute("r", "redrive", redrive);
    operator.quarantine(task, "again");
    CommandAnswer.Decided again =
        decided(command("r", "redrive", "{ \"attempt\": 0, \"task\": %d }".formatted(task)));
    assertThat(again.decision()).isEqualTo(CommandDecision.REPLAY);
    assertThat(again.results()).isEqualTo(first);
    assertThat(db.column("select state from escapement.task")).containsExactly("QUARANTINED");
    assertThat(receipts().getLast().decision()).isEqualTo(CommandDecision.REPLAY);
    assertThat(plain(receipts().getLast().results())).containsExactly(task + "/0=REDRIVEN");
    assertThat(stored("r")).hasSize(1);

    refused("r", "redrive", json("{'task':%d,'attempt':1}".formatted(task)))
        .isEqualTo("id: this source has used it for another command");
    refused("r", "quarantine", json("{'task':%d}".formatted(task)))
        .isEqualTo("id: this source has used it for another command");
  }

  @Test
  void aRefusalDoesNotBindItsIdentity() {
    refused("1", "pause", json("{'scope':'town','name':'x'}"))
        .isEqualTo("pause: the scope is queue, kind, channel or tenant, not town");
    assertThat(plain(execute("1", "pause", json("{'scope':'kind','name':'x'}"))))
        .containsExactly("kind x=PAUSED");
  }

  /** Two partitions, two processes: whoever comes second waits, and then it is a replay. */
  @Test
  void theSameCommandAtTheSameTimeIsExecutedOnce() throws Exception {
    long task = submit("a", "work");
    String data = json("{'task':%d}".formatted(task));
    try (ExecutorService threads = Executors.newCachedThreadPool();
        Connection holder = db.connection();
        Statement s = holder.createStatement()) {
      holder.setAutoCommit(false);
      s.execute("select from escapement.task where id = " + task + " for update");
      CompletableFuture<CommandAnswer> first =
          CompletableFuture.supplyAsync(() -> operator.command(command(0, 0, "q", data)), threads);
      awaitBlocked(1);
      CompletableFuture<CommandAnswer> second =
          CompletableFuture.supplyAsync(() -> operator.command(command(1, 0, "q", data)), threads);
      awaitBlocked(2);
      holder.rollback();
      assertThat(List.of(decided(first.get()).decision(), decided(second.get()).decision()))
          .containsExactlyInAnyOrder(CommandDecision.EXECUTED, CommandDecision.REPLAY);
    }
    assertThat(stored("q")).hasSize(1);
    assertThat(db.outcomes()).containsExactly("quarantined");
  }

  @Test
  void whoeverLostThePartitionExecutesNothing() {
    execute("1", "pause", json("{'scope':'kind','name':'x'}"));
    PartitionKey partition = new PartitionKey(TOPIC, topicId, 3);
    CommandRecord stale =
        new CommandRecord.Command(
            new PositionAdvance(partition, null, 1),
            0,
            "/ops",
            "2",
            "resume",
            json("{'scope':'kind','name':'x'}"),
            new byte[0],
            RecordEnvelope.EMPTY);
    assertThat(operator.command(stale)).isEqualTo(new CommandAnswer.Fenced());
    assertThat(db.column("select name from escapement.paused")).containsExactly("x");
    assertThat(receipts()).hasSize(1);
    assertThat(operator.positions(List.of(partition))).containsEntry(partition, 1L);
  }

  /** The same harness with the guard taken out. */
  @Test
  void withoutTheFenceTheSameRecordIsDecidedTwice() {
    execute("1", "pause", json("{'scope':'kind','name':'x'}"));
    db.execute(
        """
        create or replace function escapement.advance_positions(p_topics text[], p_topic_ids uuid[],
          p_partitions int[], p_expected bigint[], p_next bigint[]) returns int[]
        language sql as $$ select '{}'::int[] $$
        """);
    CommandRecord stale =
        new CommandRecord.Command(
            new PositionAdvance(new PartitionKey(TOPIC, topicId, 3), null, 1),
            0,
            "/ops",
            "2",
            "resume",
            json("{'scope':'kind','name':'x'}"),
            new byte[0],
            RecordEnvelope.EMPTY);
    assertThat(operator.command(stale)).isInstanceOf(CommandAnswer.Decided.class);
    assertThat(receipts().stream().map(OutboxEvent.CommandReceipt::offset)).containsExactly(0L, 0L);
  }

  @Test
  void offsetsWithoutARecordMoveThePositionAndSayNothing() {
    PartitionKey partition = new PartitionKey(TOPIC, topicId, 3);
    assertThat(
            operator.command(new CommandRecord.Nothing(new PositionAdvance(partition, null, 12))))
        .isEqualTo(new CommandAnswer.Passed());
    assertThat(operator.positions(List.of(partition))).containsEntry(partition, 12L);
    assertThat(db.events()).isEmpty();
  }

  @Test
  void whatTheArgumentsCannotBeIsSaidOfTheArgument() {
    String[][] wrong = {
      {"explode", "{}", "type: there is no command explode"},
      {"pause", "", "data: not JSON that can be read: "},
      {"pause", "{", "data: not JSON that can be read: "},
      {"pause", "[1]", "data: not a JSON object"},
      {"pause", "null", "data: not a JSON object"},
      {"pause", "\"scope\"", "data: not a JSON object"},
      {"pause", "{'scope':'kind'}", "name: missing"},
      {"pause", "{'scope':'kind','name':null}", "name: missing"},
      {"pause", "{'scope':'kind','name':'x','nome':1}", "nome: pause has no such argument"},
      {"pause", "{'scope':'kind','name':'x','name':'y'}", "name: given more than once"},
      {"pause", "{'scope':'kind','name':1}", "name: not a string"},
      {"pause", "{'scope':'kind','name':{}}", "name: not a string"},
      {"pause", "{'scope':'kind','name':''}", "new row for relation \"pause\" violates check"},
      {"pause", "{'scope':'kind','name':'a\\u0000b'}", "data: not JSON that can be read: uns"},
      {"pause", "{'scope':'kind','name':'\\ud800'}", "data: not JSON that can be read: inval"},
      {"pause", "{'scope':'kind','na\\u0000me':'x'}", "data: not JSON that can be read: "},
      {"pause", "{'scope':'kind','na\\udc00me':'x'}", "data: not JSON that can be read: "},
      {"redrive", "{'task':'7','attempt':1}", "task: not a whole number"},
      {"redrive", "{'task':7.5,'attempt':1}", "task: not a whole number"},
      {"redrive", "{'task':" + "9".repeat(1000) + ",'attempt':1}", "task: not a whole number"},
      {"redrive", "{'task':1e400,'attempt':1}", "task: not a whole number"},
      {"redrive", "{'task':7,'attempt':2147483648}", "attempt: not a whole number, or too large"},
      {"reschedule", "{'task':7,'attempt':1,'due':'soon'}", "due: not a time like"},
      {"reschedule", "{'task':7,'attempt':1,'due':'now'}", "due: not a time like"},
      {"reschedule", "{'task':7,'attempt':1,'due':'2026-01-01T00:00:00'}", "due: not a time"},
      {"reschedule", "{'task':7,'attempt':1,'due':'2026-02-30T00:00:00Z'}", "due: not a time"},
      {"reschedule", "{'task':7,'attempt':1,'due':1}", "due: not a time like"},
      {
        "reschedule",
        "{'task':7,'attempt':1,'due':'9999-01-01T00:00:00Z'}",
        "reschedule: the due time must be within a hundred years"
      },
      {"cancel", "{'namespace':'a','event_id':'b','unstarted_only':'yes'}", "unstarted_only: not"},
      {"set_tenant", "{'tenant':'','max_tasks':1,'max_bytes':1,'weight':1}", "a tenant's name"},
      {
        "set_tenant",
        "{'tenant':'a','max_tasks':1,'max_bytes':1,'weight':5000}",
        "new row for relation \"budget\" violates check constraint"
      },
      {"set_limits", "{'max_tasks':-1,'max_bytes':1}", "new row for relation \"budget\""},
      {"define_kind", "{'name':'k','channels':'mail'}", "channels: not an array of strings"},
      {"define_kind", "{'name':'k','channels':['mail',1]}", "channels: not an array of strings"},
      {"define_kind", "{'name':'k','channels':['a\\u0000']}", "data: not JSON that can be"},
      {"define_kind", "{'name':'k','channels':['nowhere']}", "kind k: there is no channel nowhere"},
      {"define_kind", "{'name':'k','lease':'a while'}", "lease: not a length of time"},
      {"define_kind", "{'name':'k','lease':'99999999999 years'}", "lease: not a length of time"},
      {"define_kind", "{'name':'k','lease':30}", "lease: not a length of time"},
      {"define_kind", "{'name':'k','backoff_jitter':1e999}", "backoff_jitter: not a number"},
      {"resolve", "{'task':1,'resolution':'MAYBE'}", "resolve: DONE, FAILED or RETRY, not MAYBE"},
      {
        "resolve_all",
        "{'resolution':'MAYBE','limit':5}",
        "resolve_all: DONE, FAILED or RETRY, not MAYBE"
      },
      {
        "move_position",
        "{'topic_id':'requests','partition':0,'expected':1,'position':2}",
        "topic_id: not a UUID"
      },
      {"redrive_all", "{'limit':0}", "redrive_all: the limit is from 1 to 10000"},
      {
        "set_preference", "{'tenant':'t','subject':'s','channel':'local','enabled':true}", "address"
      },
      {"retire", "{'limit':1000000}", "forget: the limit is from 1 to 100000"},
      {"retire", "{'limit':" + nested(2_000) + "}", "limit: not a whole number"},
      {"retire", "{'limit':1,'x':" + nested(2_000) + "}", "x: retire has no such argument"},
      {"retire", nested(2_000), "data: not a JSON object"},
      {"retire", nested(100_000), "data: nested too deeply"},
    };
    int offset = 0;
    for (String[] one : wrong) {
      String[] said = one;
      refused("w" + offset, one[0], json(one[1]))
          .as(one[0] + " " + Texts.storable(one[1], 200))
          .satisfies(reason -> assertThat(reason).startsWith(said[2]));
      OutboxEvent.DeadLetter letter =
          (OutboxEvent.DeadLetter)
              db.events().stream()
                  .filter(OutboxEvent.DeadLetter.class::isInstance)
                  .toList()
                  .getLast();
      assertThat(letter.value()).isEqualTo(json(one[1]).getBytes(UTF_8));
      assertThat(letter.offset()).isEqualTo(offset++);
    }
    assertThat(db.column("select * from escapement.actions where source is not null")).isEmpty();
    assertThat(plain(execute("sound", "pause", json("{'scope':'kind','name':'x'}"))))
        .containsExactly("kind x=PAUSED");
    assertThat(receipts()).hasSize(wrong.length + 1);
  }

  @Test
  void sourcesAndIdsAreBoundedAsThoseOfRequests() {
    String sound = json("{'scope':'kind','name':'x'}");
    String[][] wrong = {
      {"", "1", "source: must have 1 to 1024 bytes"},
      {"é".repeat(513), "1", "source: must have 1 to 1024 bytes"},
      {"/a\nb", "1", "source: has control characters"},
      {"escapement:x", "1", "source: must not begin with escapement:"},
      {"/a", "", "id: must have 1 to 512 bytes"},
      {"/a", "i".repeat(513), "id: must have 1 to 512 bytes"},
      {"/a", "1\u0085", "id: has control characters"},
    };
    for (String[] one : wrong) {
      CommandAnswer.Decided answer =
          decided(operator.command(from(one[0], one[1], "pause", sound)));
      assertThat(answer.decision()).isEqualTo(CommandDecision.INVALID);
      assertThat(answer.reason()).isEqualTo(one[2]);
    }
    assertThat(db.column("select name from escapement.paused")).isEmpty();
  }

  @Test
  void aValueBeyondTheLimitIsNotExecuted() {
    db.execute("update escapement.ledger set max_payload_bytes = 20");
    CommandAnswer.Decided answer =
        decided(command("1", "pause", json("{'scope':'kind','name':'x'}")));
    assertThat(answer.decision()).isEqualTo(CommandDecision.OVERSIZE);
    assertThat(db.events()).hasSize(1);
    assertThat(db.column("select name from escapement.paused")).isEmpty();
  }

  @Test
  void whatWasRefusedBeforeKeepsItsReason() {
    CommandRecord refused =
        new CommandRecord.Refused(
            new PositionAdvance(new PartitionKey(TOPIC, topicId, 3), null, 1),
            0,
            CommandDecision.INVALID,
            "id: miss\u0000ing",
            null,
            null,
            "pause",
            new byte[] {1},
            RecordEnvelope.EMPTY);
    CommandAnswer.Decided answer = decided(operator.command(refused));
    assertThat(answer.reason()).isEqualTo("id: miss\ufffding");
    assertThat(receipts().getFirst().source()).isNull();
    assertThat(db.events()).hasSize(2);
  }

  /** What a record can't be blamed for is no answer: it is decided when the trouble is over. */
  @Test
  void aLockThatIsNotHadIsAnErrorAndLeavesNothing() throws SQLException {
    long task = submit("a", "work");
    LedgerConfig hasty =
        new LedgerConfig(
            db.config().url(),
            db.config().user(),
            db.config().password(),
            1,
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofMillis(100));
    String data = json("{'task':%d}".formatted(task));
    try (Ledger impatient = Ledger.connect(hasty, Role.OPERATOR);
        Connection holder = db.connection();
        Statement s = holder.createStatement()) {
      holder.setAutoCommit(false);
      s.execute("select from escapement.task where id = " + task + " for update");
      assertThatThrownBy(() -> impatient.command(command(0, 0, "q", data)))
          .isInstanceOfSatisfying(
              LedgerException.class,
              e -> {
                assertThat(e.sqlState()).isEqualTo("55P03");
                assertThat(e.blamesContent()).isFalse();
              });
      holder.rollback();
      assertThat(receipts()).isEmpty();
      assertThat(decided(impatient.command(command(0, 0, "q", data))).decision())
          .isEqualTo(CommandDecision.EXECUTED);
    }
  }

  /** A bulk act that fails half-way leaves nothing of its first half. */
  @Test
  void aFunctionThatFailsIsUndoneAsAWhole() {
    define("mail", "letter");
    long first = parked("a");
    long second = parked("b");
    db.execute(
        """
        create function public.no_second() returns trigger language plpgsql as $$
        begin
          if new.id = %d then raise exception 'not this one' using errcode = 'ES001'; end if;
          return new;
        end $$;
        create trigger no_second before update on escapement.task
          for each row execute function public.no_second()
        """
            .formatted(second));
    refused("1", "resolve_all", json("{'resolution':'DONE','limit':10}")).isEqualTo("not this one");
    assertThat(db.column("select state from escapement.task order by id"))
        .containsExactly("UNKNOWN", "UNKNOWN");
    assertThat(db.outcomes()).containsOnly("parked");
    db.execute("drop trigger no_second on escapement.task");
    assertThat(plain(execute("2", "resolve_all", json("{'resolution':'DONE','limit':10}"))))
        .startsWith(first + " DONE=DONE", second + " DONE=DONE");
  }

  @Test
  void whatWasBusyIsNamedInTheReceipt() throws SQLException {
    long task = submit("a", "work");
    operator.quarantine(task, "test");
    try (Connection holder = db.connection();
        Statement s = holder.createStatement()) {
      holder.setAutoCommit(false);
      s.execute("select from escapement.task where id = " + task + " for update");
      assertThat(plain(execute("1", "redrive_all", json("{'limit':5}"))))
          .startsWith(task + "/0=BUSY");
      holder.rollback();
    }
  }

  private CommandRecord from(String source, String id, String type, String data) {
    PositionAdvance advance =
        new PositionAdvance(
            new PartitionKey(TOPIC, topicId, 3), position == 0 ? null : position, position + 1);
    position++;
    return new CommandRecord.Command(
        advance, position - 1, source, id, type, data, data.getBytes(UTF_8), RecordEnvelope.EMPTY);
  }

  /** A quarantine on a partition that stands at an offset. */
  private CommandRecord command(int partition, long offset, String id, String data) {
    return new CommandRecord.Command(
        new PositionAdvance(
            new PartitionKey(TOPIC, topicId, partition), offset == 0 ? null : offset, offset + 1),
        offset,
        "/ops",
        id,
        "quarantine",
        data,
        data.getBytes(UTF_8),
        RecordEnvelope.EMPTY);
  }

  private CommandAnswer command(String id, String type, String data) {
    return operator.command(from("/ops", id, type, data));
  }

  private List<CommandResult> execute(String id, String type, String data) {
    CommandAnswer.Decided answer = decided(command(id, type, data));
    assertThat(answer.reason()).as(type).isNull();
    assertThat(answer.decision()).as(type).isEqualTo(CommandDecision.EXECUTED);
    return answer.results();
  }

  private org.assertj.core.api.AbstractStringAssert<?> refused(
      String id, String type, String data) {
    CommandAnswer.Decided answer = decided(command(id, type, data));
    assertThat(answer.decision()).as(type + " " + id).isEqualTo(CommandDecision.INVALID);
    assertThat(answer.results()).isEmpty();
    return assertThat(answer.reason());
  }

  private static CommandAnswer.Decided decided(CommandAnswer answer) {
    assertThat(answer).isInstanceOf(CommandAnswer.Decided.class);
    return (CommandAnswer.Decided) answer;
  }

  private List<OutboxEvent.CommandReceipt> receipts() {
    return db.events().stream()
        .filter(OutboxEvent.CommandReceipt.class::isInstance)
        .map(OutboxEvent.CommandReceipt.class::cast)
        .toList();
  }

  private List<CommandResult> stored(String id) {
    List<String> targets =
        db.column(
            "select target from escapement.actions where event_id = '" + id + "' order by id");
    List<String> words =
        db.column(
            "select result from escapement.actions where event_id = '" + id + "' order by id");
    List<CommandResult> stored = new ArrayList<>();
    for (int i = 0; i < targets.size(); i++) {
      stored.add(new CommandResult(targets.get(i), words.get(i)));
    }
    return stored;
  }

  private List<String> commandNames() {
    return db.column(
        """
        select proname from pg_proc p
        where pronamespace = 'escapement'::regnamespace
          and has_function_privilege('escapement_operator', p.oid, 'execute')
          and proname not in ('command', 'audit', 'clock', 'fold', 'outcome', 'positions',
                              'slot_state', 'submit')
        """);
  }

  private List<String> parameters(String function) {
    return db
        .column(
            """
            select unnest(proargnames[1:pronargs]) from pg_proc
            where pronamespace = 'escapement'::regnamespace and proname = '%s'
            """
                .formatted(function))
        .stream()
        .map(name -> name.substring("p_".length()))
        .toList();
  }

  private void define(String channel, String kind) {
    operator.defineChannel(ChannelDefinition.opaque(channel, Duration.ofSeconds(5)), "test");
    operator.defineKind(KindDefinition.local(kind).withChannel(channel), "test");
  }

  private long submit(String id, String kind) {
    db.submit(ingest, request(id).kind(kind).build());
    return db.number("select max(id) from escapement.task");
  }

  private long parked(String id) {
    long task = submit(id, "letter");
    worker.claim("claim " + claims++, List.of("letter"), List.of(task));
    worker.observe(List.of(Observation.of(task, 1, Observation.Seen.TIMEOUT, null)));
    return task;
  }

  private void awaitBlocked(int sessions) {
    org.awaitility.Awaitility.await()
        .until(
            () ->
                db.number(
                        "select count(*) from pg_stat_activity where datname = current_database()"
                            + " and wait_event_type = 'Lock'")
                    == sessions);
  }

  private static List<String> plain(List<CommandResult> results) {
    return results.stream()
        .map(one -> one.target() + "=" + one.result())
        .collect(Collectors.toList());
  }

  private static String[] of(String... texts) {
    return texts;
  }

  private static String json(String text) {
    return text.replace('\'', '"');
  }

  private static String nested(int levels) {
    return "[".repeat(levels) + "]".repeat(levels);
  }
}
