package io.escapement.dispatcher.http;

import io.escapement.dispatcher.DispatcherException;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads HTTP channels from a directory: each {@code NAME.properties} in it is the channel {@code
 * NAME}. Values may have <code>${env:NAME}</code> and <code>${file:PATH}</code>, so that secrets
 * need not be in them.
 */
public final class HttpChannelFiles {

  private static final String SUFFIX = ".properties";
  private static final String HEADER = "header.";
  private static final Set<String> KEYS =
      new TreeSet<>(
          Set.of(
              "url",
              "method",
              "content-type",
              "key-header",
              "replay",
              "refused",
              "rejected",
              "unauthorized",
              "message-id-header",
              "query.url",
              "query.found",
              "query.not-found",
              "signing-secret",
              "allow-private",
              "connect-timeout-ms",
              "response-limit-bytes"));
  private static final Set<String> METHODS = new TreeSet<>(Set.of("POST", "PUT", "PATCH"));
  private static final Pattern SECRET = Pattern.compile("\\$\\{(env|file):([^}]*)}");
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

  /** What HTTP itself writes (RFC 9110), and the client would refuse. */
  private static final Set<String> RESERVED =
      Set.of("connection", "content-length", "expect", "host", "upgrade", "content-type");

  private static final int MOST_RESPONSE_BYTES = 1 << 20;
  private static final int MOST_CONNECT_MILLIS = 60_000;

  private final Path file;
  private final Map<String, String> values;

  private HttpChannelFiles(Path file, Map<String, String> values) {
    this.file = file;
    this.values = values;
  }

  /**
   * Reads all of a directory.
   *
   * @param env the environment's variables
   * @throws DispatcherException with one line that names the file, the key and the cure
   */
  public static List<HttpChannelConfig> read(
      Path directory, Function<String, @Nullable String> env) {
    List<Path> files;
    try (Stream<Path> all = Files.list(directory)) {
      files = all.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    } catch (IOException e) {
      throw new DispatcherException(
          "dispatcher.channels: "
              + directory
              + " can't be read as a directory; make it, or unset it",
          e);
    }
    List<HttpChannelConfig> channels = new ArrayList<>();
    for (Path file : files) {
      channels.add(new HttpChannelFiles(file, load(file, env)).channel());
    }
    return channels;
  }

  private static Map<String, String> load(Path file, Function<String, @Nullable String> env) {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new DispatcherException(file + ": can't be read: " + e.getMessage(), e);
    }
    Map<String, String> values = new TreeMap<>();
    for (String key : properties.stringPropertyNames()) {
      values.put(key, expanded(file, key, properties.getProperty(key).strip(), env));
    }
    return values;
  }

  private static String expanded(
      Path file, String key, String value, Function<String, @Nullable String> env) {
    return SECRET
        .matcher(value)
        .replaceAll(
            found -> {
              String name = found.group(2);
              @Nullable String secret =
                  found.group(1).equals("env") ? env.apply(name) : content(file, key, name);
              if (secret == null) {
                throw new DispatcherException(
                    file + ": " + key + ": the environment has no " + name + "; set it");
              }
              return Matcher.quoteReplacement(secret.strip());
            });
  }

  private static String content(Path file, String key, String path) {
    try {
      return Files.readString(Path.of(path));
    } catch (IOException | IllegalArgumentException e) {
      throw new DispatcherException(
          file + ": " + key + ": the file " + path + " can't be read; make it readable", e);
    }
  }

  private HttpChannelConfig channel() {
    for (String key : values.keySet()) {
      if (!KEYS.contains(key) && !key.startsWith(HEADER)) {
        throw wrong(key, "there is no such key; there are " + KEYS + " and header.NAME");
      }
    }
    String name = file.getFileName().toString();
    if (!values.containsKey("url")) {
      throw wrong("url", "is missing; say where calls go");
    }
    HttpChannelConfig config =
        new HttpChannelConfig(
            name.substring(0, name.length() - SUFFIX.length()),
            url("url"),
            method(),
            values.get("content-type"),
            headers(),
            token("key-header", "Idempotency-Key"),
            statuses("replay", ""),
            statuses("refused", ""),
            statuses("rejected", ""),
            statuses("unauthorized", "401,403"),
            token("message-id-header", ""),
            values.containsKey("query.url") ? url("query.url") : null,
            statuses("query.found", "200"),
            statuses("query.not-found", ""),
            secret(),
            flag("allow-private"),
            Duration.ofMillis(number("connect-timeout-ms", 3_000, MOST_CONNECT_MILLIS)),
            number("response-limit-bytes", 16_384, MOST_RESPONSE_BYTES));
    requireOneMeaning(config);
    return config;
  }

  private DispatcherException wrong(String key, String why) {
    return new DispatcherException(file + ": " + key + ": " + why);
  }

  private Template template(String key, String text) {
    try {
      return new Template(text);
    } catch (IllegalArgumentException e) {
      throw wrong(key, String.valueOf(e.getMessage()));
    }
  }

  /** The host must not depend on what a request says; only a preference's address may name one. */
  private Template url(String key) {
    Template url = template(key, values.getOrDefault(key, ""));
    if (url.isWholly("address")) {
      return url;
    }
    String host = "https?://[^/?#{}@]+";
    boolean hasPlaceholders = !url.head().equals(url.toString());
    if (!url.head().matches(hasPlaceholders ? host + "[/?#].*" : host + "([/?#].*)?")) {
      throw wrong(
          key,
          "it must be {address}, or begin with http:// or https:// and a host without placeholders");
    }
    try {
      Urls.of(url.sample());
    } catch (IllegalArgumentException e) {
      throw wrong(key, String.valueOf(e.getMessage()));
    }
    return url;
  }

  private String method() {
    String method = values.getOrDefault("method", "POST");
    if (!METHODS.contains(method)) {
      throw wrong("method", "it is one of " + METHODS + ", not '" + method + "'");
    }
    return method;
  }

  private Map<String, Template> headers() {
    Map<String, Template> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    values.forEach(
        (key, value) -> {
          if (key.startsWith(HEADER)) {
            String name = key.substring(HEADER.length());
            if (!TOKEN.matcher(name).matches() || RESERVED.contains(lower(name))) {
              throw wrong(key, "can't be set; for the content type there is content-type");
            }
            headers.put(name, template(key, value));
          }
        });
    return headers;
  }

  private static String lower(String name) {
    return name.toLowerCase(java.util.Locale.ROOT);
  }

  private @Nullable String token(String key, String without) {
    String name = values.getOrDefault(key, without);
    if (!name.isEmpty() && (!TOKEN.matcher(name).matches() || RESERVED.contains(lower(name)))) {
      throw wrong(key, "'" + name + "' is not a header that can be used so");
    }
    return name.isEmpty() ? null : name;
  }

  private Set<Integer> statuses(String key, String without) {
    String list = values.getOrDefault(key, without);
    Set<Integer> statuses = new TreeSet<>();
    for (String one : list.split(",", -1)) {
      if (one.isBlank() && list.isBlank()) {
        continue;
      }
      if (!one.strip().matches("[2-5][0-9][0-9]")) {
        throw wrong(key, "it is a list of statuses, as 429,503; not '" + list + "'");
      }
      statuses.add(Integer.parseInt(one.strip()));
    }
    return statuses;
  }

  private void requireOneMeaning(HttpChannelConfig config) {
    requireOneMeaning(
        Map.of(
            "replay", config.replay(),
            "refused", config.refused(),
            "rejected", config.rejected()));
    requireOneMeaning(
        Map.of(
            "replay", config.replay(),
            "rejected", config.rejected(),
            "unauthorized", config.unauthorized()));
    requireOneMeaning(Map.of("query.found", config.found(), "query.not-found", config.notFound()));
    if (config.queryUrl() != null && config.notFound().isEmpty()) {
      throw wrong(
          "query.not-found", "is missing; say which status tells that it was surely not accepted");
    }
  }

  private void requireOneMeaning(Map<String, Set<Integer>> meanings) {
    String twice =
        meanings.values().stream()
            .flatMap(Set::stream)
            .collect(
                Collectors.groupingBy(
                    UnaryOperator.identity(), TreeMap::new, Collectors.counting()))
            .entrySet()
            .stream()
            .filter(one -> one.getValue() > 1)
            .map(one -> one.getKey().toString())
            .collect(Collectors.joining(", "));
    if (!twice.isEmpty()) {
      throw wrong(
          "status " + twice,
          "is in more than one of " + new TreeSet<>(meanings.keySet()) + "; leave it in one");
    }
  }

  private byte @Nullable [] secret() {
    String secret = values.getOrDefault("signing-secret", "");
    try {
      return secret.isEmpty() ? null : Signature.secret(secret);
    } catch (IllegalArgumentException e) {
      throw wrong("signing-secret", String.valueOf(e.getMessage()));
    }
  }

  private boolean flag(String key) {
    String value = values.getOrDefault(key, "false");
    if (!value.equals("true") && !value.equals("false")) {
      throw wrong(key, "it is true or false, not '" + value + "'");
    }
    return value.equals("true");
  }

  private int number(String key, int without, int most) {
    String value = values.getOrDefault(key, Integer.toString(without));
    if (!value.matches("[0-9]{1,9}")
        || Integer.parseInt(value) < 1
        || Integer.parseInt(value) > most) {
      throw wrong(key, "it is a number from 1 to " + most + ", not '" + value + "'");
    }
    return Integer.parseInt(value);
  }
}
