package io.escapement.dispatcher.relay;

import java.lang.management.ManagementFactory;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows a relay's health to JMX while it runs. Failure: it runs without; the log says why. */
final class RelayBean implements RelayMXBean, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RelayBean.class);

  private final Supplier<RelayHealth> health;
  private final String name;
  private @Nullable ObjectName registered;

  RelayBean(String slot, Supplier<RelayHealth> health) {
    this.health = health;
    // A slot's name needs no quoting: letters, digits and underscores.
    this.name = "io.escapement:type=Relay,name=" + slot;
  }

  /** Registers it; a second relay of the slot in one process stays without. */
  void register() {
    try {
      registered =
          ManagementFactory.getPlatformMBeanServer()
              .registerMBean(this, new ObjectName(name))
              .getObjectName();
    } catch (JMException e) {
      LOG.warn("{} can't be registered: {}", name, e.getMessage());
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
        LOG.debug("{} was not registered any more", name, e);
      }
    }
  }

  @Override
  public String getRole() {
    return health.get().role().name();
  }

  @Override
  public long getTakeOvers() {
    return health.get().terms();
  }

  @Override
  public long getBatches() {
    return health.get().batches();
  }

  @Override
  public long getRows() {
    return health.get().rows();
  }

  @Override
  public long getEvents() {
    return health.get().events();
  }

  @Override
  public long getLagBytes() {
    return health.get().lagBytes();
  }

  @Override
  public double getLagSeconds() {
    return health.get().lag().toMillis() / 1_000.0;
  }

  @Override
  public long getRetainedBytes() {
    return health.get().retainedBytes();
  }

  @Override
  public @Nullable String getPosition() {
    return health.get().position();
  }

  @Override
  public @Nullable String getLastError() {
    return health.get().lastError();
  }
}
