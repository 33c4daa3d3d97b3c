package io.escapement.ledger;

/**
 * The names of the topics, all under one prefix.
 *
 * @param prefix letters, digits, dots, dashes and underscores
 */
public record TopicNames(String prefix) {

  /** The prefix if none is configured. */
  public static final String DEFAULT_PREFIX = "escapement";

  public TopicNames {
    if (!prefix.matches("[A-Za-z0-9._-]{1,100}")) {
      throw new IllegalArgumentException(
          "topics.prefix is '"
              + prefix
              + "'; it must be 1 to 100 letters, digits, dots, dashes or underscores");
    }
  }

  /** The names under the default prefix. */
  public static TopicNames standard() {
    return new TopicNames(DEFAULT_PREFIX);
  }

  /** Requests that name their tenant themselves. */
  public String requests() {
    return prefix + ".requests";
  }

  /** Requests of one tenant: the topic is the tenant. */
  public String tenantRequests(String tenant) {
    return requests() + "." + tenant;
  }

  /** What operators ask for. */
  public String commands() {
    return prefix + ".commands";
  }

  /** The decision on each request record. */
  public String receipts() {
    return prefix + ".receipts";
  }

  /** Hints that there is due work in a queue. */
  public String dispatch(String queue) {
    return prefix + ".dispatch." + queue;
  }

  /** Changes of tasks worth telling. */
  public String outcomes() {
    return prefix + ".outcomes";
  }

  /** How full each tenant's budget is. */
  public String pressure() {
    return prefix + ".pressure";
  }

  /** Records that could not be read. */
  public String deadLetters() {
    return prefix + ".dead-letters";
  }

  /** How far the outbox has been relayed. */
  public String relayPosition() {
    return prefix + ".relay-position";
  }
}
