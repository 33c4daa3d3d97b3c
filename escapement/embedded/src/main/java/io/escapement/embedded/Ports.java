package io.escapement.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/** Loopback ports: a free one, and whether a wanted one is free. */
final class Ports {

  /**
   * Below those that systems give to outgoing connections, any of which could take a port in the
   * seconds until a server listens on it.
   */
  private static final int LOWEST = 20_000;

  private static final int COUNT = 12_000;

  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  private Ports() {}

  /**
   * A port that nothing listens on at this moment, and that this process has not been given before:
   * servers that start at once get different ones. Thread rule: any thread.
   */
  static int free() {
    for (int tries = 0; tries < COUNT; tries++) {
      int port = LOWEST + ThreadLocalRandom.current().nextInt(COUNT);
      if (GIVEN.add(port) && !isTaken(port)) {
        return port;
      }
    }
    throw new IllegalStateException(
        "no free loopback port from " + LOWEST + " to " + (LOWEST + COUNT - 1));
  }

  /** Refuses a port that something listens on; 0, any free one, is never refused. */
  static void require(int port, EmbeddedStartException.Reason ifTaken) {
    if (port != 0 && isTaken(port)) {
      throw new EmbeddedStartException(ifTaken, "port " + port + " is taken by another program");
    }
  }

  /**
   * Whether something listens on a port. Connections that linger from an earlier server on it do
   * not count, as they do not keep a server from starting.
   */
  private static boolean isTaken(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
