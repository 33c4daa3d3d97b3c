package io.escapement.ledger;

import java.io.Serializable;

/**
 * What a child process is to do. A lambda is sent by its name and what it captures, so it captures
 * text and numbers only, and never the test that it stands in.
 */
@FunctionalInterface
interface ChildJob extends Serializable {
  /**
   * Does it, in the child.
   *
   * @return what to tell the test
   */
  String run(ChildSession session) throws Exception;
}
