package io.escapement.embedded.stub;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.StringTokenizer;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Checks signatures by the rules of Standard Webhooks: HMAC-SHA256 over {@code id.timestamp.body},
 * in base64 behind {@code v1,}; several stand beside each other while a secret is changed, and one
 * that matches suffices. A timestamp more than five minutes from this host's clock does not count.
 *
 * <p>Thread rule: any thread; each call has a {@link Mac} of its own.
 */
final class Signature {

  static final String PREFIX = "whsec_";
  static final Duration TOLERANCE = Duration.ofMinutes(5);

  private static final String ALGORITHM = "HmacSHA256";
  private static final String VERSION = "v1,";

  private final SecretKeySpec key;

  private Signature(byte[] secret) {
    this.key = new SecretKeySpec(secret, ALGORITHM);
  }

  /**
   * Reads a secret.
   *
   * @throws StubStartException if it is not {@code whsec_} and base64; the secret is not told
   */
  static Signature of(String secret) {
    try {
      byte[] bytes =
          secret.startsWith(PREFIX)
              ? Base64.getDecoder().decode(secret.substring(PREFIX.length()))
              : new byte[0];
      if (bytes.length > 0) {
        return new Signature(bytes);
      }
      throw notASecret(null);
    } catch (IllegalArgumentException e) {
      throw notASecret(e);
    }
  }

  /** What the body is to be fed to. */
  Mac begin(@Nullable String id, @Nullable String timestamp) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
      return mac;
    } catch (InvalidKeyException e) {
      throw new IllegalStateException("the key was refused", e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java runtime has no " + ALGORITHM, e);
    }
  }

  /**
   * Judges a call whose whole body was fed.
   *
   * @throws RequestException with 401, if it does not match
   */
  void require(
      Mac fed, @Nullable String id, @Nullable String timestamp, @Nullable String signatures) {
    if (id == null || timestamp == null || signatures == null) {
      throw new RequestException(
          401, "not signed: webhook-id, webhook-timestamp or webhook-signature is missing");
    }
    if (!isNear(timestamp)) {
      throw new RequestException(
          401,
          "webhook-timestamp is no second within " + TOLERANCE.toMinutes() + " minutes of now");
    }
    byte[] right = fed.doFinal();
    StringTokenizer each = new StringTokenizer(signatures, " ");
    while (each.hasMoreTokens()) {
      if (matches(right, each.nextToken())) {
        return;
      }
    }
    throw new RequestException(401, "webhook-signature does not match");
  }

  private static boolean matches(byte[] right, String signature) {
    try {
      return signature.startsWith(VERSION)
          && MessageDigest.isEqual(
              right, Base64.getDecoder().decode(signature.substring(VERSION.length())));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isNear(String timestamp) {
    try {
      long distance = Math.abs(Long.parseLong(timestamp) - Instant.now().getEpochSecond());
      return distance >= 0 && distance <= TOLERANCE.toSeconds();
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static StubStartException notASecret(@Nullable Throwable cause) {
    return new StubStartException(
        "--signing-secret is no secret of Standard Webhooks; write " + PREFIX + " and base64",
        true,
        cause);
  }
}
