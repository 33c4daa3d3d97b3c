package io.escapement.ingest;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Text that strangers wrote: decoded strictly, judged, and quoted so that neither a log line nor a
 * receipt nor the database can stumble over it.
 *
 * <p>Thread rule: stateless.
 */
final class WireText {

  /** How much of a stranger's text is repeated in a reason. */
  private static final int QUOTED_CHARS = 80;

  private WireText() {}

  /**
   * Decodes UTF-8 without replacing what is not UTF-8.
   *
   * @return null if the bytes are not UTF-8
   */
  static @Nullable String decode(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT)
          .decode(ByteBuffer.wrap(bytes))
          .toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /**
   * Judges text against what CloudEvents allow in a string, and a length.
   *
   * @return what is wrong, or null
   */
  static @Nullable String problem(String text, int maxBytes) {
    if (text.isEmpty()) {
      return "empty";
    }
    if (text.length() > maxBytes) {
      return "longer than " + maxBytes + " bytes";
    }
    int bytes = 0;
    for (int i = 0; i < text.length(); ) {
      int point = text.codePointAt(i);
      if (Character.isISOControl(point)) {
        return "has the control character " + hex(point);
      }
      if (isSurrogate(point)) {
        return "has the unpaired surrogate " + hex(point);
      }
      if (isNonCharacter(point)) {
        return "has the noncharacter " + hex(point);
      }
      bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      i += Character.charCount(point);
    }
    return bytes > maxBytes ? "longer than " + maxBytes + " bytes" : null;
  }

  /** Text as it may stand in a reason or a log line: short, on one line, well-formed. */
  static String shorten(@Nullable String text) {
    if (text == null) {
      return "null";
    }
    StringBuilder plain = new StringBuilder();
    int i = 0;
    while (i < text.length() && plain.length() < QUOTED_CHARS) {
      int point = text.codePointAt(i);
      if (Character.isISOControl(point) || isSurrogate(point) || isNonCharacter(point)) {
        plain.append('<').append(hex(point)).append('>');
      } else {
        plain.appendCodePoint(point);
      }
      i += Character.charCount(point);
    }
    if (i < text.length()) {
      plain.append("… (").append(text.length()).append(" characters)");
    }
    return plain.toString();
  }

  /** The same between quotes. */
  static String quote(@Nullable String text) {
    return "'" + shorten(text) + "'";
  }

  /** A failure's message on one line: PostgreSQL's goes on with statements and rows. */
  static String oneLine(Throwable failure) {
    String message = failure.getMessage();
    String text = message == null || message.isBlank() ? failure.toString() : message;
    return text.lines().findFirst().orElse(text);
  }

  private static boolean isSurrogate(int point) {
    return point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE;
  }

  private static boolean isNonCharacter(int point) {
    return (point & 0xFFFE) == 0xFFFE || (point >= 0xFDD0 && point <= 0xFDEF);
  }

  private static String hex(int point) {
    return String.format("U+%04X", point);
  }
}
