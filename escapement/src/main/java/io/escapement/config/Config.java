package io.escapement.config;

import io.escapement.dispatcher.LaneLimit;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * The settings of this run, checked. Immutable.
 *
 * <p>Asking for a key as a type that it does not have is a programmer's error.
 */
public final class Config {

  private static final String MASK = "***";

  private final Map<Key, Setting> settings;
  private final Map<String, Setting> kafka;

  Config(Map<Key, Setting> settings, Map<String, Setting> kafka) {
    this.settings = new EnumMap<>(settings);
    this.kafka = new TreeMap<>(kafka);
    settings.forEach(Config::read);
  }

  /** Nothing but defaults. */
  public static Config defaults() {
    Map<Key, Setting> settings = new EnumMap<>(Key.class);
    for (Key key : Key.values()) {
      settings.put(key, new Setting(key.key(), key.defaultValue(), "the default"));
    }
    return new Config(settings, Map.of());
  }

  /** The same with another value for one key, as a program decides it. */
  public Config with(Key key, String value) {
    Map<Key, Setting> changed = new EnumMap<>(settings);
    changed.put(key, new Setting(key.key(), value, "chosen by this command"));
    return new Config(changed, kafka);
  }

  /** The same for servers that this process runs itself: reached at once, without a login. */
  public Config at(String ledgerUrl, String ledgerUser, String bootstrapServers) {
    return new Config(settings, Map.of())
        .with(Key.LEDGER_URL, ledgerUrl)
        .with(Key.LEDGER_USER, ledgerUser)
        .with(Key.LEDGER_PASSWORD, "")
        .with(Key.KAFKA_BOOTSTRAP_SERVERS, bootstrapServers);
  }

  /** A text, path or address. */
  public String text(Key key) {
    return (String) read(key, setting(key));
  }

  /** A whole number. */
  public int number(Key key) {
    return (Integer) read(key, setting(key));
  }

  /** A length of time. */
  public Duration time(Key key) {
    return (Duration) read(key, setting(key));
  }

  /** A list of names. */
  public List<String> names(Key key) {
    List<?> names = (List<?>) read(key, setting(key));
    return names.stream().map(String.class::cast).toList();
  }

  /** The limits of a key, by name. */
  public Map<String, LaneLimit> limits(Key key) {
    Map<?, ?> limits = (Map<?, ?>) read(key, setting(key));
    Map<String, LaneLimit> byName = new TreeMap<>();
    limits.forEach((name, limit) -> byName.put((String) name, (LaneLimit) limit));
    return byName;
  }

  /** A key with who set it, for messages: {@code ledger.url (from FILE)}. */
  public String said(Key key) {
    return setting(key).toString();
  }

  /** What every Kafka client of this process gets: brokers and the properties passed on. */
  public Map<String, String> kafkaClient() {
    Map<String, String> client = new LinkedHashMap<>();
    KafkaClientSettings.addTo(client, kafka.values());
    client.put("bootstrap.servers", text(Key.KAFKA_BOOTSTRAP_SERVERS));
    return client;
  }

  /**
   * Every setting as a file would give it, secrets too: for a process that is started with them.
   */
  public Map<String, String> values() {
    Map<String, String> values = new TreeMap<>();
    settings.forEach((key, setting) -> values.put(key.key(), setting.value()));
    kafka.forEach((name, setting) -> values.put(name, setting.value()));
    return values;
  }

  /** One line with everything, secrets masked: for the log. */
  @Override
  public String toString() {
    StringJoiner all = new StringJoiner(" ");
    settings.forEach(
        (key, setting) -> all.add(key.key() + "=" + shown(setting.value(), key.isSecret())));
    kafka.forEach(
        (key, setting) ->
            all.add(key + "=" + shown(setting.value(), KafkaClientSettings.isSecret(key))));
    return all.toString();
  }

  private Setting setting(Key key) {
    Setting setting = settings.get(key);
    if (setting == null) {
      throw new IllegalStateException(key + " has no value");
    }
    return setting;
  }

  private static Object read(Key key, Setting setting) {
    try {
      return key.type().read(setting.value());
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          setting.key()
              + " is '"
              + shown(setting.value(), key.isSecret())
              + "' ("
              + setting.origin()
              + "); "
              + e.getMessage(),
          e);
    }
  }

  private static String shown(String value, boolean secret) {
    return secret && !value.isEmpty() ? MASK : value;
  }
}
