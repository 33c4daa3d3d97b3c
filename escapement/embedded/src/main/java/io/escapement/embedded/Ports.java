package io.escapement.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Loopback ports: a free one, and whether a wanted one is free. */
final class Ports {

  private Ports() {}

  /** A port that nothing listens on at this moment. */
  static int free() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException("no loopback port can be opened", e);
    }
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
