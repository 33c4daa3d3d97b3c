package io.escapement.ingest;

import java.util.Locale;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Attributes from a record's headers: CloudEvents' binary mode on Kafka.
 *
 * <p>The SDK's reader would do, but for three things that it loses: bytes that are not UTF-8 become
 * replacement characters (so two different ids could become one), the last of several equal headers
 * wins silently, and a header without a value ends in a NullPointerException.
 */
final class BinaryMode {

  static final String CONTENT_TYPE = "content-type";

  /** What the header's attribute is called in the event. */
  static final String DATA_CONTENT_TYPE = "datacontenttype";

  private static final String PREFIX = "ce_";

  private BinaryMode() {}

  /** Whether any header is a CloudEvents attribute. */
  static boolean hasAttributes(Headers headers) {
    for (Header header : headers) {
      if (header.key().startsWith(PREFIX)) {
        return true;
      }
    }
    return false;
  }

  /**
   * The content type of the value; null if the record does not say.
   *
   * @throws InvalidAttribute if it is not one readable string: then nobody knows the mode
   */
  static @Nullable String contentType(Headers headers) throws InvalidAttribute {
    RawAttributes found = new RawAttributes();
    for (Header header : headers.headers(CONTENT_TYPE)) {
      read(CONTENT_TYPE, header, found);
    }
    return found.checked().get(CONTENT_TYPE);
  }

  /** Reads all attributes; what is wrong is noted there. */
  static void read(Headers headers, RawAttributes into) {
    for (Header header : headers) {
      String key = header.key();
      if (key.equals(CONTENT_TYPE)) {
        read(DATA_CONTENT_TYPE, header, into);
      } else if (key.startsWith(PREFIX)) {
        read(key.substring(PREFIX.length()).toLowerCase(Locale.ROOT), header, into);
      }
    }
  }

  private static void read(String name, Header header, RawAttributes into) {
    byte @Nullable [] value = header.value();
    if (value == null) {
      into.fail(name, "null");
      return;
    }
    String text = WireText.decode(value);
    if (text == null) {
      into.fail(name, "not UTF-8");
      return;
    }
    into.put(name, text);
  }
}
