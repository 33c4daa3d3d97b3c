package io.escapement.dispatcher.http;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How an HTTP endpoint is called, and what its answers mean. Only the provider's own contract can
 * say what a status means, so no status but 2xx means anything that is not listed here.
 *
 * @param name the channel, as it is defined in the ledger
 * @param url where calls go; may have placeholders, see {@link Template}
 * @param method {@code POST}, {@code PUT} or {@code PATCH}
 * @param contentType of the body; null: the event's own
 * @param headers sent with each call and question; values may have placeholders
 * @param keyHeader carries the task's key, the same in each call of the task; null: none
 * @param replay statuses that say that an earlier call with this key had been accepted
 * @param refused statuses that say that it was surely not accepted and may be tried again
 * @param rejected statuses that say that it was surely not accepted and never will be
 * @param unauthorized statuses that say that we are not known: surely not accepted; some in a row
 *     pause the channel
 * @param messageIdHeader of an answer, the provider's name for what it accepted; null: none
 * @param queryUrl where it is asked what was accepted; null: it can't be asked
 * @param found statuses of a question's answer: it was accepted
 * @param notFound statuses of a question's answer: it was not
 * @param signingSecret the key of signatures after the Standard Webhooks specification; null: calls
 *     are not signed
 * @param allowPrivate whether addresses out of preferences may be in private networks
 * @param connectTimeout how long a connection may take to be made; at most half of what the call
 *     may take is used
 * @param responseLimit bytes of an answer's body that are read
 */
public record HttpChannelConfig(
    String name,
    Template url,
    String method,
    @Nullable String contentType,
    Map<String, Template> headers,
    @Nullable String keyHeader,
    Set<Integer> replay,
    Set<Integer> refused,
    Set<Integer> rejected,
    Set<Integer> unauthorized,
    @Nullable String messageIdHeader,
    @Nullable Template queryUrl,
    Set<Integer> found,
    Set<Integer> notFound,
    byte @Nullable [] signingSecret,
    boolean allowPrivate,
    Duration connectTimeout,
    int responseLimit) {

  public HttpChannelConfig {
    headers = Map.copyOf(headers);
    replay = Set.copyOf(replay);
    refused = Set.copyOf(refused);
    rejected = Set.copyOf(rejected);
    unauthorized = Set.copyOf(unauthorized);
    found = Set.copyOf(found);
    notFound = Set.copyOf(notFound);
  }

  /** Whether a host that is called comes from a preference. */
  boolean goesToAddresses() {
    return url.isWholly("address") || (queryUrl != null && queryUrl.isWholly("address"));
  }

  /** Only the name: the rest may have secrets in it. */
  @Override
  public String toString() {
    return "HttpChannelConfig[" + name + "]";
  }
}
