package io.escapement.dispatcher.http;

import io.escapement.dispatcher.Task;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Headers after the Standard Webhooks specification 1.0 (symmetric, {@code v1}): the receiver knows
 * who has sent what, and when. The id is the task's key, so a repeated call has the same. The time
 * is the claim's, by the database's clock.
 */
final class Signature {

  private static final String ALGORITHM = "HmacSHA256";
  private static final String PREFIX = "whsec_";
  private static final int LEAST_BYTES = 24;
  private static final int MOST_BYTES = 64;

  private Signature() {}

  /**
   * A secret's bytes.
   *
   * @param text base64, with or without the specification's prefix {@code whsec_}
   * @throws IllegalArgumentException if it is not, or not of 24 to 64 bytes
   */
  static byte[] secret(String text) {
    String encoded = text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : text;
    byte[] secret;
    try {
      secret = Base64.getDecoder().decode(encoded);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("a signing secret is base64, with or without whsec_", e);
    }
    if (secret.length < LEAST_BYTES || secret.length > MOST_BYTES) {
      throw new IllegalArgumentException(
          "a signing secret has "
              + LEAST_BYTES
              + " to "
              + MOST_BYTES
              + " bytes, not "
              + secret.length);
    }
    return secret;
  }

  static Map<String, String> of(byte[] secret, Task task, byte[] body) {
    String id = task.idempotencyKey();
    String timestamp = Long.toString(task.claimedAt().getEpochSecond());
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
      String signature = Base64.getEncoder().encodeToString(mac.doFinal(body));
      return Map.of(
          "webhook-id", id,
          "webhook-timestamp", timestamp,
          "webhook-signature", "v1," + signature);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}
