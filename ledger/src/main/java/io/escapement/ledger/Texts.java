package io.escapement.ledger;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Makes text that comes from outside storable: recording a failure must not be able to fail. */
final class Texts {

  private static final String CUT = " […]";

  private Texts() {}

  /**
   * The text without NUL and lone surrogates (each becomes U+FFFD), cut to a number of UTF-8 bytes,
   * with a mark where it was cut.
   */
  static @Nullable String storable(@Nullable String text, int maxBytes) {
    if (text == null) {
      return null;
    }
    int limit = maxBytes - CUT.getBytes(StandardCharsets.UTF_8).length;
    StringBuilder clean = new StringBuilder(Math.min(text.length(), maxBytes));
    int bytes = 0;
    int i = 0;
    while (i < text.length()) {
      int codePoint = text.codePointAt(i);
      i += Character.charCount(codePoint);
      boolean lone = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
      int kept = codePoint == 0 || lone ? 0xFFFD : codePoint;
      int length = kept < 0x80 ? 1 : kept < 0x800 ? 2 : kept < 0x10000 ? 3 : 4;
      if (bytes + length > limit && !fits(text, i, maxBytes - bytes - length)) {
        return clean.append(CUT).toString();
      }
      clean.appendCodePoint(kept);
      bytes += length;
    }
    return clean.toString();
  }

  /** Whether what follows fits as well; looks at no more characters than there is room for. */
  private static boolean fits(String text, int from, int room) {
    if (room < 0 || text.length() - from > room) {
      return false;
    }
    return text.substring(from).getBytes(StandardCharsets.UTF_8).length <= room;
  }
}
