package io.escapement.embedded.stub;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Reads bodies, and not without end. */
final class Body {

  /** The largest body that is taken, in bytes. */
  static final long MAX_BYTES = 10_000_000;

  /** So much is read and thrown away, for a caller that listens only when it has said it all. */
  private static final long PATIENCE_BYTES = 10 * MAX_BYTES;

  private static final int BUFFER_BYTES = 8_192;

  private Body() {}

  /** Reads it to its end and returns its SHA-256; keeps none of it. */
  static byte[] digest(InputStream in, Sink also) throws IOException {
    MessageDigest digest = sha256();
    each(
        in,
        (bytes, length) -> {
          digest.update(bytes, 0, length);
          also.take(bytes, length);
        });
    return digest.digest();
  }

  /** Reads it to its end and keeps it. */
  static byte[] read(InputStream in) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    each(in, (bytes, length) -> all.write(bytes, 0, length));
    return all.toByteArray();
  }

  private static void each(InputStream in, Sink sink) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    long total = 0;
    for (int n = in.read(buffer); n >= 0 && total <= PATIENCE_BYTES; n = in.read(buffer)) {
      total += n;
      if (total <= MAX_BYTES) {
        sink.take(buffer, n);
      }
    }
    if (total > MAX_BYTES) {
      throw new RequestException(413, "bodies have at most " + MAX_BYTES + " bytes");
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** Takes a piece. */
  interface Sink {
    void take(byte[] bytes, int length);
  }
}
