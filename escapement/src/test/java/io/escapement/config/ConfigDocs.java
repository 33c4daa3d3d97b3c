package io.escapement.config;

/** Writes the documentation of the settings from their table. */
final class ConfigDocs {

  static final String BEGIN = "<!-- settings: made from io.escapement.config.Key -->";
  static final String END = "<!-- end of settings -->";

  private static final int WIDTH = 78;

  private ConfigDocs() {}

  /** What stands between the marks of docs/configuration.md. */
  static String markdown() {
    StringBuilder text = new StringBuilder();
    for (Key.Group group : Key.Group.values()) {
      text.append("\n### ").append(group.title()).append("\n\n");
      text.append("| setting | default | meaning |\n|---|---|---|\n");
      for (Key key : Key.values()) {
        if (key.group() == group) {
          String value = key.defaultValue().isEmpty() ? "(empty)" : "`" + key.defaultValue() + "`";
          text.append("| `").append(key.key()).append("` | ").append(value).append(" | ");
          text.append(key.meaning()).append(key.isSecret() ? " Never shown." : "").append(" |\n");
        }
      }
    }
    return text.append("\n").toString();
  }

  /** A document with the part between the marks made anew. */
  static String renewed(String document) {
    int begin = document.indexOf(BEGIN) + BEGIN.length();
    int end = document.indexOf(END);
    if (begin < BEGIN.length() || end < begin) {
      throw new IllegalArgumentException("the marks are missing");
    }
    return document.substring(0, begin) + "\n" + markdown() + document.substring(end);
  }

  /** The example file: every setting, commented out. */
  static String exampleFile() {
    StringBuilder text = new StringBuilder();
    text.append("# Settings of Escapement. Every one is shown with its default, commented out.\n");
    text.append(
        "# The environment (ESCAPEMENT_LEDGER_URL for ledger.url) and flags (--ledger-url)\n");
    text.append(
        "# are stronger than this file. Kafka's own client properties follow after kafka. :\n");
    text.append("#kafka.security.protocol=SSL\n");
    for (Key.Group group : Key.Group.values()) {
      text.append("\n## ").append(group.title().replace("`", "")).append('\n');
      for (Key key : Key.values()) {
        if (key.group() == group) {
          text.append('\n').append(comment(key.meaning().replace("`", "")));
          text.append('#').append(key.key()).append('=').append(key.defaultValue()).append('\n');
        }
      }
    }
    return text.toString();
  }

  private static String comment(String sentence) {
    StringBuilder lines = new StringBuilder();
    StringBuilder line = new StringBuilder("#");
    for (String word : sentence.split(" ", -1)) {
      if (line.length() + 1 + word.length() > WIDTH) {
        lines.append(line).append('\n');
        line = new StringBuilder("#");
      }
      line.append(' ').append(word);
    }
    return lines.append(line).append('\n').toString();
  }
}
