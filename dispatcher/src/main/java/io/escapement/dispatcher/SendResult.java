package io.escapement.dispatcher;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is known after a call. {@link Refused} and {@link Rejected} are claims of certainty: the
 * system surely has not accepted it. Where that is not sure, it is one of the three unknowns.
 */
public sealed interface SendResult {

  /** It was accepted, under the provider's own name if it gave one. */
  record Accepted(@Nullable String messageId) implements SendResult {}

  /** Its key was known: an earlier call of the task had been accepted. */
  record Replayed(@Nullable String messageId) implements SendResult {}

  /**
   * Surely not accepted; may be tried again.
   *
   * @param retryAfter how long the provider asked to wait; null if it did not
   */
  record Refused(String why, @Nullable Duration retryAfter) implements SendResult {}

  /**
   * The provider does not know us. Some in a row pause the channel until a person resumes it.
   *
   * @param surelyNot whether that says that it was surely not accepted: then it counts as refused,
   *     else as unclear
   * @param retryAfter how long the provider asked to wait; null if it did not
   */
  record Unauthorized(String why, boolean surelyNot, @Nullable Duration retryAfter)
      implements SendResult {}

  /** Surely not accepted, and never will be. */
  record Rejected(String why) implements SendResult {}

  /** No answer in time: it may have been accepted. */
  record Timeout(String why) implements SendResult {}

  /** The connection broke after something was sent: it may have been accepted. */
  record IoError(String why) implements SendResult {}

  /** An answer that does not tell whether it was accepted. */
  record Unclear(String why) implements SendResult {}
}
