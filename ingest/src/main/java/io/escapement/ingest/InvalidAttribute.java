package io.escapement.ingest;

/**
 * Why a record can't be a request: the attribute and what is wrong with it. Never leaves this
 * package; it carries no stack trace, because a producer's mistake is not a fault of this program.
 */
final class InvalidAttribute extends Exception {
  private static final long serialVersionUID = 1L;

  private final String attribute;

  InvalidAttribute(String attribute, String problem) {
    super(problem, null, false, false);
    this.attribute = attribute;
  }

  /** What the receipt says. */
  String reason() {
    return WireText.shorten(attribute) + ": " + getMessage();
  }
}
