package io.escapement.dispatcher.http;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps calls to addresses that a recipient has given out of our own networks: loopback,
 * link-local, private, shared (RFC 6598), multicast, reserved, and their forms inside IPv6.
 *
 * <p>A name is resolved and looked at before the call; while the call runs {@link
 * GuardedResolverProvider} refuses to resolve it to such an address, so that a name server that
 * answers differently the second time gains nothing. Thread rule: any thread.
 */
final class AddressGuard {

  /** Lets everything pass. */
  static final AddressGuard NONE = new AddressGuard(false);

  /** Lets public addresses pass. */
  static final AddressGuard PUBLIC_ONLY = new AddressGuard(true);

  /** A name that must not be called. */
  static final class ForbiddenAddressException extends IOException {
    private static final long serialVersionUID = 1;

    ForbiddenAddressException(String host, InetAddress address) {
      super(
          host
              + " is "
              + address.getHostAddress()
              + ", which is not public; the channel's allow-private would allow it");
    }
  }

  /** A call that runs. */
  interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  /** Names that are being called, with the number of calls. */
  private static final Map<String, Integer> WATCHED = new ConcurrentHashMap<>();

  private final boolean publicOnly;

  private AddressGuard(boolean publicOnly) {
    this.publicOnly = publicOnly;
  }

  /**
   * Looks at a host's addresses, and keeps looking until the call has ended.
   *
   * @throws UnknownHostException if it has none
   * @throws ForbiddenAddressException if one of them must not be called
   */
  Watch watch(String host) throws IOException {
    if (!publicOnly) {
      return () -> {};
    }
    String name = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    // Before it is watched: a name of ours that resolves must go on resolving for everybody else.
    requirePublic(name);
    WATCHED.merge(name, 1, Integer::sum);
    boolean good = false;
    try {
      requirePublic(name);
      good = true;
      return () -> unwatch(name);
    } finally {
      if (!good) {
        unwatch(name);
      }
    }
  }

  private static void requirePublic(String name) throws IOException {
    for (InetAddress address : InetAddress.getAllByName(name)) {
      if (!isPublic(address)) {
        throw new ForbiddenAddressException(name, address);
      }
    }
  }

  /** Whether a name is being called that must be public. */
  static boolean isWatched(String name) {
    return WATCHED.containsKey(name);
  }

  private static void unwatch(String name) {
    WATCHED.computeIfPresent(name, (n, calls) -> calls == 1 ? null : calls - 1);
  }

  /** Whether an address can be reached by anybody, and is no way into our networks. */
  static boolean isPublic(InetAddress address) {
    if (address.isAnyLocalAddress()
        || address.isLoopbackAddress()
        || address.isLinkLocalAddress()
        || address.isSiteLocalAddress()
        || address.isMulticastAddress()) {
      return false;
    }
    byte[] b = address.getAddress();
    return address instanceof Inet6Address ? isPublic6(b) : isPublic4(b, 0);
  }

  /** The special registries of IANA for IPv4 (RFC 6890), beyond what Java knows. */
  private static boolean isPublic4(byte[] b, int at) {
    int first = b[at] & 0xff;
    int second = b[at + 1] & 0xff;
    int third = b[at + 2] & 0xff;
    return first != 0
        && first != 10
        && first != 127
        && first < 224
        && !(first == 100 && second >= 64 && second < 128)
        && !(first == 169 && second == 254)
        && !(first == 172 && second >= 16 && second < 32)
        && !(first == 192 && second == 168)
        && !(first == 192 && second == 0 && (third == 0 || third == 2))
        && !(first == 198 && (second == 18 || second == 19))
        && !(first == 198 && second == 51 && third == 100)
        && !(first == 203 && second == 0 && third == 113);
  }

  private static boolean isPublic6(byte[] b) {
    if ((b[0] & 0xe0) != 0x20) {
      // Outside 2000::/3 nothing is global, but for the translated IPv4 of 64:ff9b::/96.
      return startsWith(b, 0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0) && isPublic4(b, 12);
    }
    if (startsWith(b, 0x20, 0x02)) {
      // 6to4 has an IPv4 address inside.
      return isPublic4(b, 2);
    }
    return !startsWith(b, 0x20, 0x01, 0x0d, 0xb8) && !startsWith(b, 0x20, 0x01, 0, 0);
  }

  private static boolean startsWith(byte[] b, int... prefix) {
    for (int i = 0; i < prefix.length; i++) {
      if ((b[i] & 0xff) != prefix[i]) {
        return false;
      }
    }
    return true;
  }
}
