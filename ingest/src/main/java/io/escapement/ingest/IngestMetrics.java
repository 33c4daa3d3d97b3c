package io.escapement.ingest;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows statistics and health to JMX while it is open. Thread rule: any thread. */
final class IngestMetrics implements IngestMXBean, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IngestMetrics.class);

  private final IngestStats stats;
  private final Supplier<IngestHealth> health;
  private final @Nullable ObjectName name;

  IngestMetrics(String group, IngestStats stats, Supplier<IngestHealth> health) {
    this.stats = stats;
    this.health = health;
    this.name = register(group);
  }

  private @Nullable ObjectName register(String group) {
    try {
      ObjectName wanted =
          new ObjectName("io.escapement:type=Ingest,name=" + ObjectName.quote(group));
      return ManagementFactory.getPlatformMBeanServer().registerMBean(this, wanted).getObjectName();
    } catch (InstanceAlreadyExistsException e) {
      LOG.info("another ingest of {} in this process is shown by JMX", group);
    } catch (JMException e) {
      LOG.warn("JMX does not show ingest: {}", WireText.oneLine(e));
    }
    return null;
  }

  @Override
  public void close() {
    if (name == null) {
      return;
    }
    try {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
    } catch (JMException e) {
      LOG.debug("not shown any more: {}", WireText.oneLine(e));
    }
  }

  @Override
  public String getState() {
    return health.get().state().name();
  }

  @Override
  public String getLastError() {
    return Objects.requireNonNullElse(health.get().lastError(), "");
  }

  @Override
  public Map<String, Long> getDecisions() {
    return stats.snapshot().decisions();
  }

  @Override
  public long getBatches() {
    return stats.snapshot().batches();
  }

  @Override
  public long getFences() {
    return stats.snapshot().fences();
  }

  @Override
  public long getFailures() {
    return stats.snapshot().failures();
  }

  @Override
  public long getIsolatedRecords() {
    return stats.snapshot().isolated();
  }

  @Override
  public int getPartitions() {
    return health.get().partitions();
  }

  @Override
  public int getWaitingPartitions() {
    return health.get().waiting();
  }

  @Override
  public Map<String, String> getHeldPartitions() {
    return health.get().held();
  }

  @Override
  public Map<String, String> getStoppedPartitions() {
    return health.get().stopped();
  }
}
