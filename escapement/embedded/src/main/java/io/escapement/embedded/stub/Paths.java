package io.escapement.embedded.stub;

import com.sun.net.httpserver.HttpExchange;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** What addresses say. */
final class Paths {

  private Paths() {}

  /** Whether an address is a path or lies under it. */
  static boolean isUnder(HttpExchange exchange, String path) {
    String raw = exchange.getRequestURI().getRawPath();
    return raw.equals(path) || raw.startsWith(path + "/");
  }

  /** What follows a path and its slash, decoded once; empty if nothing does. */
  static String behind(HttpExchange exchange, String path) {
    String raw = exchange.getRequestURI().getRawPath();
    String rest = raw.length() > path.length() ? raw.substring(path.length() + 1) : "";
    try {
      // A plus is a plus in a path.
      return URLDecoder.decode(rest.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new RequestException(400, "the path can't be decoded");
    }
  }
}
