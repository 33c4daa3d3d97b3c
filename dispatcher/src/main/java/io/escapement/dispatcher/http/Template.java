package io.escapement.dispatcher.http;

import io.escapement.dispatcher.Call;
import io.escapement.dispatcher.Task;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A text with placeholders: <code>{address}</code> of the recipient's preference, <code>{key}
 * </code> of the task, <code>{tenant}</code>, <code>{kind}</code>, <code>{source}</code>, <code>
 * {id}</code> and <code>{subject}</code> of the request.
 */
public final class Template {

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([^{}]*)}");

  private static final Map<String, Function<Call, String>> VALUES =
      Map.of(
          "address", call -> call.address() == null ? "" : call.address(),
          "key", call -> call.task().idempotencyKey(),
          "tenant", call -> call.task().tenant(),
          "kind", call -> call.task().kind(),
          "source", call -> call.task().source(),
          "id", call -> call.task().eventId(),
          "subject", call -> subject(call.task()));

  private final String text;

  /**
   * A template.
   *
   * @throws IllegalArgumentException if it has a placeholder that does not exist
   */
  public Template(String text) {
    this.text = text;
    Set<String> unknown = new TreeSet<>();
    PLACEHOLDER.matcher(text).results().map(found -> found.group(1)).forEach(unknown::add);
    unknown.removeAll(VALUES.keySet());
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "unknown placeholders " + unknown + "; there are " + new TreeSet<>(VALUES.keySet()));
    }
  }

  /** Whether it is nothing but this placeholder. */
  boolean isWholly(String placeholder) {
    return text.equals("{" + placeholder + "}");
  }

  /** Whether it has this placeholder. */
  boolean has(String placeholder) {
    return text.contains("{" + placeholder + "}");
  }

  /** The text with the call's values as they are. */
  String plain(Call call) {
    return fill(call, UnaryOperator.identity());
  }

  /**
   * The text with the call's values encoded as parts of a URL.
   *
   * @throws IllegalArgumentException if one is empty or a dot segment: the path would be another
   */
  String url(Call call) {
    return fill(call, Template::urlPart);
  }

  private static String urlPart(String value) {
    if (value.isEmpty() || value.equals(".") || value.equals("..")) {
      throw new IllegalArgumentException("a part of the URL would be '" + value + "'");
    }
    return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The text before the first placeholder. */
  String head() {
    return text.substring(0, text.indexOf('{') < 0 ? text.length() : text.indexOf('{'));
  }

  /** The text with each placeholder replaced by a letter, to see what it will be like. */
  String sample() {
    return PLACEHOLDER.matcher(text).replaceAll("x");
  }

  @Override
  public String toString() {
    return text;
  }

  private String fill(Call call, UnaryOperator<String> encode) {
    return PLACEHOLDER.matcher(text).replaceAll(found -> quoted(encode, value(found, call)));
  }

  private static String quoted(UnaryOperator<String> encode, String value) {
    return java.util.regex.Matcher.quoteReplacement(encode.apply(value));
  }

  private static String value(MatchResult found, Call call) {
    Function<Call, String> value = VALUES.get(found.group(1));
    if (value == null) {
      throw new IllegalStateException(found.group());
    }
    return value.apply(call);
  }

  private static String subject(Task task) {
    String subject = task.subject();
    return subject == null ? "" : subject;
  }
}
