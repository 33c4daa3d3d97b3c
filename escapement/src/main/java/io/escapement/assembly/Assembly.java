package io.escapement.assembly;

import io.escapement.config.Config;
import io.escapement.config.ConfigException;
import io.escapement.config.Key;
import io.escapement.dispatcher.Channels;
import io.escapement.dispatcher.Discovery;
import io.escapement.dispatcher.Dispatcher;
import io.escapement.dispatcher.DispatcherConfig;
import io.escapement.dispatcher.DispatcherException;
import io.escapement.dispatcher.Handlers;
import io.escapement.dispatcher.LaneLimits;
import io.escapement.dispatcher.Outages;
import io.escapement.dispatcher.http.HttpChannel;
import io.escapement.dispatcher.http.HttpChannelFiles;
import io.escapement.dispatcher.relay.Relay;
import io.escapement.dispatcher.relay.RelayConfig;
import io.escapement.dispatcher.relay.RelayHealth;
import io.escapement.dispatcher.relay.RelayTuning;
import io.escapement.doctor.Concern;
import io.escapement.doctor.Doctor;
import io.escapement.doctor.Finding;
import io.escapement.ingest.IngestAssembly;
import io.escapement.ingest.IngestConfig;
import io.escapement.ingest.IngestHealth;
import io.escapement.kafka.Cluster;
import io.escapement.kafka.Topics;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Migrator;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds the parts from the settings.
 *
 * <p>Each method that starts a part checks first that what the part needs is there, so that a
 * missing broker, topic or schema is one line at the start and not a retry for ever.
 */
public final class Assembly {

  private static final Logger LOG = LoggerFactory.getLogger(Assembly.class);

  private static final Duration STATEMENT_LIMIT = Duration.ofSeconds(30);
  private static final Duration LOCK_LIMIT = Duration.ofSeconds(10);

  private final Config config;
  private final TopicNames topics;

  public Assembly(Config config) {
    this.config = config;
    this.topics = new TopicNames(config.text(Key.TOPICS_PREFIX));
  }

  /** The settings that everything here is built from. */
  public Config config() {
    return config;
  }

  /** The names of the topics. */
  public TopicNames topics() {
    return topics;
  }

  /** Brings the schema to this version; returns how many migrations that took. */
  public int migrate() {
    return Migrator.migrate(ledgerConfig());
  }

  /** Creates the topics that are missing, those of every known kind's queue included. */
  public List<Topics.Present> createTopics(Collection<String> tenants) {
    Set<String> queues = new TreeSet<>(List.of(KindDefinition.DEFAULT_QUEUE));
    int maxPayloadBytes;
    try (Ledger ledger = ledger(Role.READER)) {
      ledger.kinds().forEach(kind -> queues.add(kind.queue()));
      maxPayloadBytes = ledger.settings().maxPayloadBytes();
    }
    try (Cluster cluster = Cluster.connect(config)) {
      return new Topics(cluster, config).create(queues, tenants, maxPayloadBytes);
    }
  }

  /** Refuses to go on while topics are missing, or no broker answers. */
  public void requireTopics(Collection<String> needed) {
    try (Cluster cluster = Cluster.connect(config)) {
      new Topics(cluster, config).require(needed);
    }
  }

  /**
   * Refuses to go on while something keeps a part from its work.
   *
   * @throws CommandFailure with what was found, each with its cure
   */
  private void requireSound(Concern part, Ledger ledger) {
    List<Finding> findings = new Doctor(config).examine(ledger);
    String stops =
        findings.stream()
            .filter(finding -> finding.stops(part))
            .map(finding -> finding.subject() + ": " + finding.message())
            .collect(Collectors.joining(System.lineSeparator()));
    if (!stops.isEmpty()) {
      throw new CommandFailure(stops);
    }
    findings.stream()
        .filter(finding -> finding.severity() == Finding.Severity.WARNING)
        .forEach(finding -> LOG.info("{}", finding.line()));
  }

  /** A connection to the ledger under a role. */
  public Ledger ledger(Role role) {
    return Ledger.connect(ledgerConfig(), role);
  }

  /** Starts ingest. */
  public Part ingest() {
    IngestConfig ingestConfig =
        checked(
            () ->
                IngestConfig.of(topics)
                    .withBatchRecords(config.number(Key.INGEST_BATCH))
                    .withHoldTopics(holdTopics()));
    requireTopics(List.of(topics.requests()));
    Ledger ledger = ledger(Role.INGEST);
    Optional<Commands> commands = Optional.empty();
    try {
      requireSound(Concern.INGEST, ledger);
      commands = commands();
      Optional<Commands> executed = commands;
      IngestAssembly ingest =
          IngestAssembly.ofRequests(ledger, config.kafkaClient(), topics, ingestConfig);
      ingest.start();
      executed.ifPresent(Commands::start);
      return new Part(
          "ingest",
          () -> ingest.health().partitions() > 0,
          () -> ended(ingest.health()).or(() -> executed.flatMap(Commands::ended)),
          () -> {
            executed.ifPresent(Commands::close);
            ingest.close();
            ledger.close();
          });
    } catch (RuntimeException e) {
      commands.ifPresent(Commands::close);
      ledger.close();
      throw e;
    }
  }

  private Set<String> holdTopics() {
    Set<String> hold = new TreeSet<>(config.names(Key.INGEST_HOLD_TOPICS));
    for (String topic : hold) {
      if (!topic.equals(topics.requests()) && !topic.startsWith(topics.tenantRequests(""))) {
        throw new ConfigException(
            "%s names '%s', which is no requests topic; name %s or topics that begin with %s"
                .formatted(
                    config.said(Key.INGEST_HOLD_TOPICS),
                    topic,
                    topics.requests(),
                    topics.tenantRequests("")));
      }
    }
    return hold;
  }

  private static Optional<String> ended(IngestHealth health) {
    return health.state() == IngestHealth.State.FAILED
        ? Optional.of(String.valueOf(health.lastError()))
        : Optional.empty();
  }

  /** What executes commands, on a connection of its own; none where the settings say so. */
  private Optional<Commands> commands() {
    if (!Boolean.parseBoolean(config.text(Key.INGEST_COMMANDS))) {
      return Optional.empty();
    }
    return Optional.of(Commands.open(ledgerConfig().withPoolSize(1), config.kafkaClient(), topics));
  }

  /** Starts a relay. */
  public Part relay() {
    RelayConfig relayConfig =
        checked(
            () ->
                new RelayConfig(
                    ledgerConfig(),
                    config.kafkaClient(),
                    topics,
                    config.text(Key.RELAY_SLOT),
                    RelayTuning.DEFAULT.withPollInterval(config.time(Key.RELAY_POLL_INTERVAL))));
    requireTopics(
        List.of(
            topics.receipts(), topics.outcomes(), topics.deadLetters(), topics.relayPosition()));
    try (Ledger ledger = ledger(Role.RELAY)) {
      requireSound(Concern.RELAY, ledger);
    }
    Relay relay = new Relay(relayConfig);
    relay.start();
    return new Part(
        "relay",
        () -> relay.health().role() == RelayHealth.Role.LEADER,
        Optional::empty,
        relay::close);
  }

  /** Starts a dispatcher with the handlers of the class path and the configured channels. */
  public Part dispatcher() {
    return dispatcher(List.of());
  }

  /**
   * The same with more channels.
   *
   * @param channelDirectories where they are set up, besides those of the settings
   */
  public Part dispatcher(List<Path> channelDirectories) {
    List<String> queues = config.names(Key.DISPATCHER_QUEUES);
    DispatcherConfig dispatcherConfig = checked(() -> dispatcherConfig(queues));
    requireTopics(queues.stream().map(topics::dispatch).toList());
    try (Ledger ledger = ledger(Role.DISPATCHER)) {
      requireSound(Concern.DISPATCHER, ledger);
    }
    Dispatcher dispatcher =
        Dispatcher.start(dispatcherConfig, Handlers.load(), channels(channelDirectories));
    return new Part(
        "dispatcher", () -> dispatcher.stats().slots() > 0, Optional::empty, dispatcher::close);
  }

  /** The external channels: those with a file, and those that the class path offers. */
  private Channels channels(List<Path> more) {
    List<Path> directories = new ArrayList<>(more);
    if (!config.text(Key.DISPATCHER_CHANNELS).isEmpty()) {
      directories.add(Path.of(config.text(Key.DISPATCHER_CHANNELS)));
    }
    return checked(
        () ->
            Channels.load(
                directories.stream()
                    .flatMap(one -> HttpChannelFiles.read(one, System::getenv).stream())
                    .map(HttpChannel::new)
                    .toList()));
  }

  private DispatcherConfig dispatcherConfig(List<String> queues) {
    return new DispatcherConfig(
        ledgerConfig(),
        config.kafkaClient(),
        topics,
        queues,
        config.number(Key.DISPATCHER_CONCURRENCY),
        config.number(Key.DISPATCHER_THREADS),
        config.number(Key.DISPATCHER_KNOWN_LIMIT),
        config.time(Key.DISPATCHER_HORIZON),
        config.time(Key.DISPATCHER_SWEEP),
        config.number(Key.DISPATCHER_CLAIM_BATCH),
        config.number(Key.DISPATCHER_COMPLETION_BATCH),
        config.time(Key.DISPATCHER_DRAIN_LIMIT),
        config.text(Key.DISPATCHER_DISCOVERY).equals("poll")
            ? new Discovery.Poll(config.time(Key.DISPATCHER_POLL_INTERVAL))
            : new Discovery.Wheel(),
        new LaneLimits(
            config.limits(Key.DISPATCHER_KIND_LIMITS),
            config.limits(Key.DISPATCHER_CHANNEL_LIMITS)),
        new Outages(
            config.number(Key.DISPATCHER_OUTAGE_CALLS), config.time(Key.DISPATCHER_OUTAGE_PAUSE)));
  }

  /** What the parts' own checks refuse, one setting against another, is the settings' fault. */
  private static <T> T checked(Supplier<T> settings) {
    try {
      return settings.get();
    } catch (IllegalArgumentException | DispatcherException e) {
      throw new ConfigException(Objects.requireNonNullElse(e.getMessage(), e.toString()), e);
    }
  }

  private LedgerConfig ledgerConfig() {
    return new LedgerConfig(
        config.text(Key.LEDGER_URL),
        config.text(Key.LEDGER_USER),
        config.text(Key.LEDGER_PASSWORD),
        config.number(Key.LEDGER_POOL),
        config.time(Key.LEDGER_CONNECT_TIMEOUT),
        STATEMENT_LIMIT,
        LOCK_LIMIT);
  }
}
