package io.escapement.config;

/**
 * A value that somebody gave.
 *
 * @param key the name as a file spells it
 * @param value as written
 * @param origin who gave it, in the words of a message: "from FILE" or "given by --flag"
 */
public record Setting(String key, String value, String origin) {
  @Override
  public String toString() {
    return key + " (" + origin + ")";
  }
}
