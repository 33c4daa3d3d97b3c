package io.escapement.e2e;

import org.jspecify.annotations.Nullable;

/** Closes what a test class has opened, whatever of it fails to close or was never opened. */
final class CloseAll {

  private CloseAll() {}

  /** Closes them in this order; the first failure is thrown, with the others. */
  static void of(@Nullable AutoCloseable... opened) throws Exception {
    Exception first = null;
    for (AutoCloseable one : opened) {
      try {
        if (one != null) {
          one.close();
        }
      } catch (Exception e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
