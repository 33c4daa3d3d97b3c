package io.escapement.dispatcher;

import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Contract;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The external channels that this process can call. */
public final class Channels implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Channels.class);

  private final Map<String, Channel> byName;

  private Channels(Map<String, Channel> byName) {
    this.byName = byName;
  }

  /** None: only work in the ledger's own database is done. */
  public static Channels none() {
    return new Channels(Map.of());
  }

  /**
   * Those that the class path offers, and these.
   *
   * @throws DispatcherException if two have the same name
   */
  public static Channels load(Collection<? extends Channel> more) {
    List<Channel> all = new ArrayList<>(more);
    ServiceLoader.load(Channel.class).forEach(all::add);
    return of(all);
  }

  /**
   * These and no others.
   *
   * @throws DispatcherException if two have the same name
   */
  public static Channels of(Collection<? extends Channel> channels) {
    Map<String, Channel> byName = new TreeMap<>();
    for (Channel channel : channels) {
      if (byName.put(channel.name(), channel) != null) {
        throw new DispatcherException(
            "channel '" + channel.name() + "' is set up twice; leave one of them");
      }
    }
    return new Channels(byName);
  }

  /** Their names. */
  public Set<String> names() {
    return Set.copyOf(byName.keySet());
  }

  boolean serves(String name) {
    return byName.containsKey(name);
  }

  Channel get(String name) {
    Channel channel = byName.get(name);
    if (channel == null) {
      throw new IllegalStateException("claimed a task of the channel '" + name + "'");
    }
    return channel;
  }

  /**
   * Refuses what can't be what the ledger says, and warns of what it does not know yet: nothing can
   * be sent there, and as soon as it is defined its tasks are claimed.
   *
   * @throws DispatcherException with all that is wrong and how to put it right
   */
  void requireFit(Collection<ChannelDefinition> defined) {
    Map<String, ChannelDefinition> ledgers =
        defined.stream().collect(Collectors.toMap(ChannelDefinition::name, Function.identity()));
    Set<String> wrong = new TreeSet<>();
    for (Channel channel : byName.values()) {
      ChannelDefinition definition = ledgers.get(channel.name());
      if (definition == null) {
        LOG.warn(
            "channel '{}' is not defined in the ledger yet; say what its provider promises: select"
                + " escapement.define_channel('{}', 'IDEMPOTENT' | 'QUERYABLE' | 'OPAQUE',"
                + " interval '10 seconds', ...)",
            channel.name(),
            channel.name());
      } else if (definition.contract() == Contract.TRANSACTIONAL) {
        wrong.add(
            "channel '"
                + channel.name()
                + "' is TRANSACTIONAL in the ledger: its work is done by handlers; give this one"
                + " another name");
      } else if (definition.contract() == Contract.QUERYABLE && !channel.canQuery()) {
        wrong.add(
            "channel '"
                + channel.name()
                + "' is QUERYABLE in the ledger, and here it can't be asked; set query.url, or"
                + " define it as what it is");
      }
    }
    if (!wrong.isEmpty()) {
      throw new DispatcherException(String.join(System.lineSeparator(), wrong));
    }
  }

  @Override
  public void close() {
    for (Channel channel : byName.values()) {
      try {
        channel.close();
      } catch (RuntimeException e) {
        LOG.warn("channel {} did not close well: {}", channel.name(), e.getMessage());
      }
    }
  }
}
