package io.escapement.dispatcher.http;

import io.escapement.dispatcher.DispatcherException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The platform's own name resolution, but for names that are being called and must be public: those
 * do not resolve to anything else. Installed by being on the class path.
 */
public final class GuardedResolverProvider extends InetAddressResolverProvider {

  private static final Logger LOG = LoggerFactory.getLogger(GuardedResolverProvider.class);

  private static volatile boolean installed;

  /**
   * Refuses to go on where the platform resolves names in another way.
   *
   * @throws DispatcherException if it does
   */
  static void requireInstalled() {
    try {
      // The first name that is resolved makes the platform look for its provider.
      InetAddress.getAllByName("localhost");
    } catch (UnknownHostException e) {
      LOG.debug("localhost has no address", e);
    }
    if (!installed) {
      throw new DispatcherException(
          "names are not resolved by "
              + GuardedResolverProvider.class.getName()
              + ", so addresses out of preferences can't be kept out of private networks; take the"
              + " other InetAddressResolverProvider off the class path, or set allow-private");
    }
  }

  @Override
  public InetAddressResolver get(Configuration configuration) {
    installed = true;
    return guarded(configuration.builtinResolver());
  }

  static InetAddressResolver guarded(InetAddressResolver builtin) {
    return new Guarded(builtin);
  }

  @Override
  public String name() {
    return "escapement";
  }

  private record Guarded(InetAddressResolver builtin) implements InetAddressResolver {
    @Override
    public Stream<InetAddress> lookupByName(String host, LookupPolicy policy)
        throws UnknownHostException {
      Stream<InetAddress> found = builtin.lookupByName(host, policy);
      if (!AddressGuard.isWatched(host)) {
        return found;
      }
      InetAddress[] all = found.toArray(InetAddress[]::new);
      for (InetAddress address : all) {
        if (!AddressGuard.isPublic(address)) {
          throw new UnknownHostException(host + " is " + address.getHostAddress());
        }
      }
      return Stream.of(all);
    }

    @Override
    public String lookupByAddress(byte[] address) throws UnknownHostException {
      return builtin.lookupByAddress(address);
    }
  }
}
