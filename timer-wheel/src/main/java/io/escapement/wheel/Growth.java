package io.escapement.wheel;

/**
 * How arrays grow: by half, so that even just after growing a timer costs no more than was
 * promised.
 */
final class Growth {
  private Growth() {}

  static int larger(int length) {
    return length + (length >> 1) + 1;
  }
}
