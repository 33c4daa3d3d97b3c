package io.escapement.dispatcher;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows a dispatcher to JMX while it runs. Failure: it runs without; the log says why. */
final class DispatcherBean implements DispatcherMXBean, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DispatcherBean.class);
  private static final double NANOS_PER_MILLI = 1e6;

  private final Supplier<DispatcherStats> stats;
  private @Nullable ObjectName registered;

  DispatcherBean(Supplier<DispatcherStats> stats) {
    this.stats = stats;
  }

  /** Registers it; a second dispatcher of the same topics in one process stays without. */
  void register(String prefix) {
    try {
      ObjectName name =
          new ObjectName("io.escapement:type=Dispatcher,name=" + ObjectName.quote(prefix));
      registered =
          ManagementFactory.getPlatformMBeanServer().registerMBean(this, name).getObjectName();
    } catch (JMException e) {
      LOG.debug("a dispatcher of {} is registered already", prefix, e);
    }
  }

  @Override
  public void close() {
    ObjectName mine = registered;
    registered = null;
    if (mine != null) {
      try {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(mine);
      } catch (JMException e) {
        LOG.debug("{} was not registered any more", mine, e);
      }
    }
  }

  @Override
  public String getState() {
    DispatcherStats now = stats.get();
    return now.stopping() ? "STOPPING" : now.troubles().isEmpty() ? "RUNNING" : "DEGRADED";
  }

  @Override
  public int getSlots() {
    return stats.get().slots();
  }

  @Override
  public int getTimers() {
    return stats.get().timers();
  }

  @Override
  public int getReady() {
    return stats.get().ready();
  }

  @Override
  public int getThrottled() {
    return stats.get().throttled();
  }

  @Override
  public int getInHand() {
    return stats.get().inHand();
  }

  @Override
  public long getClaimed() {
    return stats.get().claimed();
  }

  @Override
  public long getDone() {
    return stats.get().done();
  }

  @Override
  public long getRetried() {
    return stats.get().retried();
  }

  @Override
  public long getEnded() {
    return stats.get().ended();
  }

  @Override
  public long getLate() {
    return stats.get().late();
  }

  @Override
  public long getNotDue() {
    return stats.get().notDue();
  }

  @Override
  public long getLeasesLost() {
    return stats.get().leasesLost();
  }

  @Override
  public int getStuckHandlers() {
    return stats.get().stuckHandlers();
  }

  @Override
  public int getOverdueCalls() {
    return stats.get().overdueCalls();
  }

  @Override
  public List<String> getOutages() {
    return stats.get().outages();
  }

  @Override
  public double getClockErrorMillis() {
    return stats.get().clockErrorNanos() / NANOS_PER_MILLI;
  }

  @Override
  public List<String> getNoHandler() {
    return stats.get().noHandler();
  }

  @Override
  public Map<String, String> getTroubles() {
    return stats.get().troubles();
  }
}
