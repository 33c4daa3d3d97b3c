package io.escapement.dispatcher;

import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Contract;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Role;
import io.escapement.ledger.WorkFilter;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds due work, runs its handlers and completes it: one process of a consumer group.
 *
 * <p>Wired here by constructor; nothing else makes a service of this package. Thread rule: start
 * and close from one thread, statistics from any. Failure: no single failure ends it; what is in
 * trouble is in the statistics.
 */
public final class Dispatcher implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);
  private static final Duration AFTER_INTERRUPT = Duration.ofSeconds(2);

  private final DispatcherConfig config;
  private final Ledger ledger;
  private final List<InHand> inHand = new ArrayList<>();
  private final Counters counters = new Counters();
  private final Health health = new Health();
  private final Channels channels;
  private final Breakers breakers;
  private final ChannelCalls calls;
  private final HandlerPool pool;
  private final Completer completer;
  private final Renewer renewer;
  private final UnservedWatch unserved;
  private final DispatcherBean bean = new DispatcherBean(this::stats);
  private final List<QueueDriver> drivers = new ArrayList<>();
  private final List<HintConsumer> consumers = new ArrayList<>();
  private final List<Loop> driverLoops = new ArrayList<>();
  private final List<Loop> consumerLoops = new ArrayList<>();
  private final List<Loop> workLoops = new ArrayList<>();
  private volatile boolean stopping;

  private Dispatcher(DispatcherConfig config, Ledger ledger, Handlers handlers, Channels channels) {
    this.config = config;
    this.ledger = ledger;
    this.completer = new Completer(ledger, counters, config.completionBatch());
    this.channels = channels;
    this.breakers = new Breakers(config.outages());
    this.calls = new ChannelCalls(channels, breakers, ledger, completer);
    this.pool = new HandlerPool(handlers, ledger, completer, config.threads());
    this.renewer = new Renewer(ledger, pool, counters);
    // A share for each queue, so that one queue's backlog can't keep another's work waiting.
    int share = Math.max(1, config.concurrency() / config.queues().size());
    int threadShare = Math.max(1, config.threads() / config.queues().size());
    String incarnation =
        ManagementFactory.getRuntimeMXBean().getName() + "/" + UUID.randomUUID().toString();
    Set<String> served = new TreeSet<>(transactionalChannels(ledger));
    served.addAll(channels.names());
    WorkFilter work = new WorkFilter(handlers.kinds(), served);
    this.unserved = new UnservedWatch(ledger, config.queues(), work);
    Throttle throttle =
        new Throttle(limits(config, channels), channels.names(), breakers, System.nanoTime());
    for (String queue : config.queues()) {
      InHand room = new InHand(share, renewer::notice);
      inHand.add(room);
      renewer.watch(room);
      QueueDriver driver =
          new QueueDriver(
              queue,
              config,
              ledger,
              work,
              new Claimer(
                  incarnation + "/" + queue, ledger, room, pool, calls, counters, threadShare),
              throttle,
              System::nanoTime);
      drivers.add(driver);
      consumers.add(
          new HintConsumer(
              config.topics().dispatch(queue),
              config.topics().prefix() + "-dispatcher-" + queue,
              config.kafka(),
              driver));
    }
    if (drivers.size() > 1) {
      // Another queue may be waiting for the same limit.
      throttle.whenBack(() -> drivers.forEach(QueueDriver::handlerEnded));
    }
  }

  /**
   * Connects and starts; calls nothing outside.
   *
   * @throws io.escapement.ledger.LedgerUnavailableException if the ledger can't be used
   * @throws DispatcherException if it can't run as configured
   */
  public static Dispatcher start(DispatcherConfig config, Handlers handlers) {
    return start(config, handlers, Channels.none());
  }

  /**
   * Connects and starts.
   *
   * @param channels closed when the dispatcher is
   * @throws io.escapement.ledger.LedgerUnavailableException if the ledger can't be used
   * @throws DispatcherException if it can't run as configured
   */
  public static Dispatcher start(DispatcherConfig config, Handlers handlers, Channels channels) {
    TopicCheck.requireTopics(
        config.kafka(), config.queues().stream().map(config.topics()::dispatch).toList());
    Ledger ledger = Ledger.connect(config.ledger(), Role.DISPATCHER);
    try {
      channels.requireFit(ledger.channels());
      warnOfMissingHandlers(ledger, config, handlers, channels);
      Dispatcher dispatcher = new Dispatcher(config, ledger, handlers, channels);
      dispatcher.startLoops();
      dispatcher.bean.register(config.topics().prefix());
      return dispatcher;
    } catch (RuntimeException e) {
      ledger.close();
      throw e;
    }
  }

  /** What it has in hand and has done. */
  public DispatcherStats stats() {
    int ready = 0;
    int timers = 0;
    int slots = 0;
    int throttled = 0;
    long clockError = 0;
    for (QueueDriver driver : drivers) {
      QueueDriver.DriverStats one = driver.stats();
      ready += one.ready();
      timers += one.timers();
      slots += one.slots();
      throttled += one.throttled();
      clockError = Math.max(clockError, one.clockErrorNanos());
    }
    return new DispatcherStats(
        inHandNow(),
        ready,
        throttled,
        timers,
        slots,
        counters.claimed.sum(),
        counters.done.sum(),
        counters.retried.sum(),
        counters.ended.sum(),
        counters.late.sum(),
        counters.notDue.sum(),
        counters.leasesLost.sum(),
        pool.stuck(),
        calls.overdue(),
        breakers.open(),
        clockError,
        unserved.seen(),
        stopping,
        health.troubles());
  }

  /**
   * Stops in order: no new claims, hand back what has not begun, wait for what runs (at most the
   * drain limit, leases kept), leave the group.
   */
  @Override
  public void close() {
    stopping = true;
    drivers.forEach(QueueDriver::stopClaiming);
    driverLoops.forEach(Loop::close);
    drivers.forEach(Dispatcher::recoverLostClaim);
    pool.handBackUnstarted();
    try {
      if (!awaitDrained(config.drainLimit())) {
        LOG.warn(
            "{} tasks still run after {}; interrupting them", inHandNow(), config.drainLimit());
        calls.stop(AFTER_INTERRUPT);
        pool.stop(AFTER_INTERRUPT);
        awaitDrained(AFTER_INTERRUPT);
      }
      calls.stop(AFTER_INTERRUPT);
      pool.stop(AFTER_INTERRUPT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    consumerLoops.forEach(Loop::stop);
    consumers.forEach(HintConsumer::wakeup);
    consumerLoops.forEach(Loop::close);
    workLoops.forEach(Loop::close);
    bean.close();
    channels.close();
    ledger.close();
  }

  private static void recoverLostClaim(QueueDriver driver) {
    try {
      driver.recoverLostClaim();
    } catch (LedgerException e) {
      LOG.warn(
          "what a lost claim of queue {} holds waits for its lease: {}",
          driver.queue(),
          e.getMessage());
    }
  }

  private int inHandNow() {
    return inHand.stream().mapToInt(InHand::size).sum();
  }

  private boolean awaitDrained(Duration atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    for (InHand one : inHand) {
      if (!one.awaitEmpty(Duration.ofNanos(Math.max(0, end - System.nanoTime())))) {
        return false;
      }
    }
    return true;
  }

  private void startLoops() {
    workLoops.add(Loop.start("escapement-completer", health, completer::runOnce));
    workLoops.add(Loop.start("escapement-renewer", health, renewer::runOnce));
    workLoops.add(Loop.start("escapement-forgetter", health, new Forgetter(ledger)::runOnce));
    workLoops.add(Loop.start("escapement-unserved", health, unserved::runOnce));
    for (int i = 0; i < drivers.size(); i++) {
      QueueDriver driver = drivers.get(i);
      HintConsumer consumer = consumers.get(i);
      driverLoops.add(Loop.start("escapement-driver-" + driver.queue(), health, driver::runOnce));
      consumerLoops.add(
          Loop.start(
              "escapement-hints-" + driver.queue(), health, consumer::runOnce, consumer::close));
    }
  }

  /** Handlers write in the ledger's own database: they serve channels that promise just that. */
  private static Set<String> transactionalChannels(Ledger ledger) {
    return ledger.channels().stream()
        .filter(channel -> channel.contract() == Contract.TRANSACTIONAL)
        .map(ChannelDefinition::name)
        .collect(Collectors.toSet());
  }

  /** External channels without a limit share half of what one queue may have in hand. */
  private static LaneLimits limits(DispatcherConfig config, Channels channels) {
    Map<String, LaneLimit> all = new HashMap<>(config.limits().channels());
    int room = config.concurrency() / config.queues().size();
    int share = Math.max(1, room / 2 / Math.max(1, channels.names().size()));
    for (String name : channels.names()) {
      all.putIfAbsent(name, LaneLimit.ofConcurrency(share));
    }
    return new LaneLimits(config.limits().kinds(), all);
  }

  private static void warnOfMissingHandlers(
      Ledger ledger, DispatcherConfig config, Handlers handlers, Channels channels) {
    Set<String> local = transactionalChannels(ledger);
    Set<String> missing = new TreeSet<>();
    for (KindDefinition kind : ledger.kinds()) {
      if (config.queues().contains(kind.queue())) {
        for (String channel : kind.channels()) {
          if (local.contains(channel) && !handlers.kinds().contains(kind.name())) {
            missing.add(kind.name());
          } else if (!local.contains(channel) && !channels.serves(channel)) {
            missing.add(kind.name() + " on channel " + channel);
          }
        }
      }
    }
    if (!missing.isEmpty()) {
      LOG.warn(
          "no_handler: nothing here does the kinds {} of the queues {}; their tasks wait",
          missing,
          config.queues());
    }
  }
}
