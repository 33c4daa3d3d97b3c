package io.escapement.dispatcher.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/** URLs that can be called. */
final class Urls {

  private Urls() {}

  /**
   * Reads a URL. What is wrong is said without the URL itself, for that may be a secret.
   *
   * @throws IllegalArgumentException if it is not http or https, has no host, or names a user
   */
  static URI of(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("not an address: " + e.getReason());
    }
    String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw new IllegalArgumentException("not an http or https address");
    }
    if (uri.getHost() == null || uri.getUserInfo() != null) {
      throw new IllegalArgumentException("an address needs a host that is one, and no user");
    }
    return uri;
  }
}
