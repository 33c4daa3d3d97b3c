package io.escapement.embedded.stub;

import com.sun.net.httpserver.HttpExchange;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Calls that are never answered. Each costs a connection and no thread. The JDK's server does not
 * tell when a caller has gone, so the number is bounded: beyond it, the connection that has hung
 * longest is closed.
 *
 * <p>Thread rule: any thread.
 */
final class Hangs {

  static final int LIMIT = 4_096;

  private final int limit;
  private final Deque<HttpExchange> hanging = new ArrayDeque<>();

  Hangs(int limit) {
    this.limit = limit;
  }

  /** Keeps an exchange open and says nothing. */
  void add(HttpExchange exchange) {
    HttpExchange oldest = push(exchange);
    if (oldest != null) {
      oldest.close();
    }
  }

  /** Closes them all. */
  void closeAll() {
    HttpExchange next = poll();
    while (next != null) {
      next.close();
      next = poll();
    }
  }

  private synchronized @Nullable HttpExchange push(HttpExchange exchange) {
    hanging.addLast(exchange);
    return hanging.size() > limit ? hanging.pollFirst() : null;
  }

  private synchronized @Nullable HttpExchange poll() {
    return hanging.pollFirst();
  }
}
