package io.escapement.config;

import io.escapement.ledger.AdmissionBatch;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Every setting there is: this table is what the loader accepts, what {@code --help} shows and what
 * docs/configuration.md is made from.
 *
 * <p>A key {@code ledger.url} is {@code ledger.url} in a file, {@code ESCAPEMENT_LEDGER_URL} in the
 * environment and {@code --ledger-url} as a flag.
 */
public enum Key {
  LEDGER_URL(
      Group.LEDGER,
      "ledger.url",
      Types.shaped("jdbc:postgresql:.+", "write jdbc:postgresql://host:port/database", "JDBC_URL"),
      "jdbc:postgresql://127.0.0.1:15432/escapement",
      "Where the ledger's database is. The default is the one that `up` runs."),
  LEDGER_USER(
      Group.LEDGER,
      "ledger.user",
      Types.text("LOGIN"),
      "postgres",
      "The login. It must be a member of the role of each part that uses it (`migrate`: own the"
          + " schema)."),
  LEDGER_PASSWORD(
      Group.LEDGER,
      "ledger.password",
      Types.textOrNothing("PASSWORD"),
      "",
      "Its password; empty if the server asks for none. Prefer the environment to the flag: other"
          + " users of the machine can see a process's arguments."),
  LEDGER_POOL(
      Group.LEDGER,
      "ledger.pool",
      Types.number(1, 200),
      "20",
      "Most database connections of one part, opened as they are needed. A dispatcher needs more"
          + " than dispatcher.threads; all parts together must stay below the server's"
          + " max_connections."),
  LEDGER_CONNECT_TIMEOUT(
      Group.LEDGER,
      "ledger.connect-timeout",
      Types.time(Duration.ofMillis(250), Duration.ofMinutes(5)),
      "10s",
      "How long to wait for a connection, at start and from the pool, before it is an error."),

  KAFKA_BOOTSTRAP_SERVERS(
      Group.KAFKA,
      "kafka.bootstrap-servers",
      Types.shaped(
          "[^\\s,:]+:\\d{1,5}(\\s*,\\s*[^\\s,:]+:\\d{1,5})*",
          "write host:port, several separated by commas",
          "HOST:PORT[,…]"),
      "127.0.0.1:19092",
      "Kafka brokers to begin with. The default is the one that `up` runs."),
  KAFKA_TIMEOUT(
      Group.KAFKA,
      "kafka.timeout",
      Types.time(Duration.ofSeconds(1), Duration.ofMinutes(5)),
      "10s",
      "How long to wait for a broker's answer at start before it is an error."),

  TOPICS_PREFIX(
      Group.TOPICS,
      "topics.prefix",
      Types.shaped(
          "[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}",
          "write letters, digits, '.', '_' and '-', at most 100 of them",
          "NAME"),
      "escapement",
      "What every topic's name begins with. Parts with different prefixes do not see each other."),
  TOPICS_PARTITIONS(
      Group.TOPICS,
      "topics.partitions",
      Types.number(1, 256),
      "4",
      "Partitions of the topics that `migrate` creates; those that exist stay as they are. It"
          + " bounds how many ingest processes, and how many dispatchers of a queue, can share the"
          + " work. More than 256 would leave dispatch partitions without a slot."),
  TOPICS_REPLICATION(
      Group.TOPICS,
      "topics.replication",
      Types.number(1, 10),
      "1",
      "Replicas of the topics that `migrate` creates. 1 loses receipts and requests with its"
          + " broker's disk; use 3 in production."),

  INGEST_BATCH(
      Group.INGEST,
      "ingest.batch",
      Types.number(1, AdmissionBatch.MAX_SUBMISSIONS),
      "500",
      "Most records that are decided in one transaction. More is cheaper a record, and holds the"
          + " budgets longer."),

  INGEST_COMMANDS(
      Group.INGEST,
      "ingest.commands",
      Types.shaped("true|false", "write true or false", "true|false"),
      "true",
      "Whether this process also executes operators' commands from the topic `<prefix>.commands`."
          + " Its login must then be a member of `escapement_operator`, and whoever may write that"
          + " topic is an operator: Kafka's ACLs must say who."),

  INGEST_HOLD_TOPICS(
      Group.INGEST,
      "ingest.hold-topics",
      new ValueType.Names(
          Pattern.compile("[a-zA-Z0-9._-]{0,249}"),
          "write names of topics, separated by commas, or nothing"),
      "",
      "Requests topics, by their full names, whose partitions wait at a record for which a budget has"
          + " no room, instead of having it refused: Kafka is the waiting room. For its tenant's"
          + " budget only a tenant's own topic waits. All ingest processes should say the same."),

  RELAY_SLOT(
      Group.RELAY,
      "relay.slot",
      Types.shaped(
          "[a-z0-9_]{1,63}",
          "write lower-case letters, digits and '_', at most 63 of them",
          "NAME"),
      "escapement_outbox",
      "The replication slot. Relays with the same slot elect one that works, the others stand by."),
  RELAY_POLL_INTERVAL(
      Group.RELAY,
      "relay.poll-interval",
      Types.time(Duration.ofMillis(1), Duration.ofSeconds(10)),
      "20ms",
      "How long an idle relay may look away from the log. On a plain connection it waits for the"
          + " server in between and adds next to nothing to the latency of receipts and hints; with"
          + " TLS it adds up to this much. Less costs more idle CPU."),

  DISPATCHER_QUEUES(
      Group.DISPATCHER,
      "dispatcher.queues",
      new ValueType.Names(
          Pattern.compile("[a-z0-9][a-z0-9_-]{0,99}"),
          "write names of lower-case letters, digits, '_' and '-', separated by commas"),
      "default",
      "The queues that a dispatcher serves. It must have a handler for every kind in them; tasks of"
          + " other kinds wait for one that has."),
  DISPATCHER_THREADS(
      Group.DISPATCHER,
      "dispatcher.threads",
      Types.number(1, 199),
      "16",
      "Handlers that run at once. Each may use a database connection, see ledger.pool."),
  DISPATCHER_CONCURRENCY(
      Group.DISPATCHER,
      "dispatcher.concurrency",
      Types.number(1, 100_000),
      "512",
      "Most tasks in hand: claimed and not yet completed. More make larger claims and completions,"
          + " which cost less a task, and take memory: their values are held. Tasks of slow handlers"
          + " are claimed only as threads become free, whatever this is."),
  DISPATCHER_KNOWN_LIMIT(
      Group.DISPATCHER,
      "dispatcher.known-limit",
      Types.number(1, 10_000_000),
      "50000",
      "Most tasks that timers are kept for; what is beyond stays in the ledger and is fetched as room"
          + " appears. It bounds memory."),
  DISPATCHER_HORIZON(
      Group.DISPATCHER,
      "dispatcher.horizon",
      Types.time(Duration.ofMillis(100), Duration.ofHours(1)),
      "60s",
      "How far ahead timers are kept; at least twice dispatcher.sweep."),
  DISPATCHER_SWEEP(
      Group.DISPATCHER,
      "dispatcher.sweep",
      Types.time(Duration.ofMillis(50), Duration.ofMinutes(30)),
      "5s",
      "How often overdue work and ended leases are looked for. It bounds how late a task is whose"
          + " hint was lost, or whose dispatcher was killed."),
  DISPATCHER_CLAIM_BATCH(
      Group.DISPATCHER,
      "dispatcher.claim-batch",
      Types.number(1, 5_000),
      "500",
      "Most tasks in one claim."),
  DISPATCHER_COMPLETION_BATCH(
      Group.DISPATCHER,
      "dispatcher.completion-batch",
      Types.number(1, 5_000),
      "500",
      "Most tasks that are completed in one transaction."),
  DISPATCHER_KIND_LIMITS(
      Group.DISPATCHER,
      "dispatcher.kind-limits",
      new ValueType.Limits(),
      "",
      "How many tasks of a kind this process runs at once and, after an `@`, starts a second:"
          + " `report.render=2,mail.send=8@50`. What is beyond waits in the ledger, without costing an"
          + " attempt, and keeps no other kind waiting."),
  DISPATCHER_CHANNEL_LIMITS(
      Group.DISPATCHER,
      "dispatcher.channel-limits",
      new ValueType.Limits(),
      "",
      "The same by channel. A task starts when neither its kind nor its channel is at its limit."),
  DISPATCHER_CHANNELS(
      Group.DISPATCHER,
      "dispatcher.channels",
      Types.shaped(".*", "write a directory, or nothing", "DIRECTORY"),
      "",
      "Where the HTTP channels are set up that this process calls, a file `NAME.properties` each; see"
          + " channels.md. Empty: none."),
  DISPATCHER_OUTAGE_CALLS(
      Group.DISPATCHER,
      "dispatcher.outage-calls",
      Types.number(0, 10_000),
      "20",
      "How many of an external channel's last calls are looked at: when half of them have failed or"
          + " were refused it is left alone for dispatcher.outage-pause, and its tasks wait without"
          + " losing tries. 0: never."),
  DISPATCHER_OUTAGE_PAUSE(
      Group.DISPATCHER,
      "dispatcher.outage-pause",
      Types.time(Duration.ofMillis(1), Duration.ofHours(1)),
      "5s",
      "How long a channel is left alone that fails, before a few calls try it again; doubles while"
          + " they fail, to 32 times."),
  DISPATCHER_DISCOVERY(
      Group.DISPATCHER,
      "dispatcher.discovery",
      Types.shaped("wheel|poll", "write wheel or poll", "wheel|poll"),
      "wheel",
      "How due work is found: `wheel` keeps timers and hears of new tasks; `poll` asks the ledger"
          + " every dispatcher.poll-interval, to compare the two."),
  DISPATCHER_POLL_INTERVAL(
      Group.DISPATCHER,
      "dispatcher.poll-interval",
      Types.time(Duration.ofMillis(1), Duration.ofMinutes(1)),
      "1s",
      "Between two questions, where dispatcher.discovery is poll."),
  DISPATCHER_DRAIN_LIMIT(
      Group.DISPATCHER,
      "dispatcher.drain-limit",
      Types.time(Duration.ZERO, Duration.ofHours(1)),
      "20s",
      "How long a stop waits for handlers that run; what has not ended by then is interrupted and"
          + " tried again later."),

  HEALTH_FILE(
      Group.PROCESS,
      "health.file",
      Types.textOrNothing("FILE"),
      "",
      "A file that a part writes every 5 seconds while it runs: the word `running` and the time, in"
          + " seconds since 1970; `stopping` while it ends what it has in hand. It is gone after an"
          + " orderly stop. `bin/healthcheck` reads it. Each process needs a file of its own. Empty:"
          + " none."),

  DATA_DIR(
      Group.STACK,
      "data.dir",
      Types.text("DIRECTORY"),
      "data",
      "Where `up` keeps its database and its broker; relative to the working directory. One process"
          + " at a time."),
  UP_POSTGRES_PORT(
      Group.STACK,
      "up.postgres-port",
      Types.number(0, 65_535),
      "15432",
      "Loopback port of the database that `up` runs; 0 picks a free one."),
  UP_KAFKA_PORT(
      Group.STACK,
      "up.kafka-port",
      Types.number(0, 65_535),
      "19092",
      "Loopback port of the broker that `up` runs; 0 picks a free one.");

  /** Settings that are used together; a command shows those of its groups. */
  public enum Group {
    LEDGER("The ledger"),
    KAFKA("Kafka"),
    TOPICS("Topics"),
    INGEST("Ingest"),
    RELAY("Relay"),
    DISPATCHER("Dispatcher"),
    PROCESS("A part's process"),
    STACK("The stack that `up` runs");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    /** Its heading in help and documentation. */
    public String title() {
      return title;
    }
  }

  private final Group group;
  private final String key;

  /** Each kind of it is a record of immutable parts. */
  @SuppressWarnings("ImmutableEnumChecker")
  private final ValueType<?> type;

  private final String defaultValue;
  private final String meaning;

  Key(Group group, String key, ValueType<?> type, String defaultValue, String meaning) {
    this.group = group;
    this.key = key;
    this.type = type;
    this.defaultValue = defaultValue;
    this.meaning = meaning;
  }

  /** The group it belongs to. */
  public Group group() {
    return group;
  }

  /** Its name in a file. */
  public String key() {
    return key;
  }

  /** Its name as a flag. */
  public String flag() {
    return "--" + key.replace('.', '-');
  }

  /** Its name in the environment. */
  public String variable() {
    return ConfigLoader.VARIABLE_PREFIX + variableName(key);
  }

  /** Its value if nobody says otherwise. */
  public String defaultValue() {
    return defaultValue;
  }

  /** Meaning and consequence, in Markdown. */
  public String meaning() {
    return meaning;
  }

  /** What stands for its value in help texts. */
  public String placeholder() {
    return type.placeholder();
  }

  /** Whether its value is never shown. */
  public boolean isSecret() {
    return this == LEDGER_PASSWORD;
  }

  ValueType<?> type() {
    return type;
  }

  /** The key of a name in a file. */
  static Optional<Key> named(String key) {
    return Arrays.stream(values()).filter(k -> k.key.equals(key)).findFirst();
  }

  /** All names in files. */
  static List<String> names() {
    return Arrays.stream(values()).map(Key::key).toList();
  }

  /** A file's name for a setting as the environment spells it. */
  static String variableName(String key) {
    return key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /** Short names for the table above. */
  private static final class Types {
    static ValueType<?> text(String placeholder) {
      return new ValueType.Text(false, placeholder);
    }

    static ValueType<?> textOrNothing(String placeholder) {
      return new ValueType.Text(true, placeholder);
    }

    static ValueType<?> shaped(String shape, String order, String placeholder) {
      return new ValueType.Shaped(Pattern.compile(shape), order, placeholder);
    }

    static ValueType<?> number(int least, int most) {
      return new ValueType.WholeNumber(least, most);
    }

    static ValueType<?> time(Duration least, Duration most) {
      return new ValueType.Time(least, most);
    }
  }
}
