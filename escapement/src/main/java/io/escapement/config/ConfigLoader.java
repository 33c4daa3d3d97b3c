package io.escapement.config;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Lays settings over each other, weakest first: defaults, a file, the environment, flags.
 *
 * <p>A name that is not known is refused with what it may have been meant to be: a setting that is
 * silently ignored is worse than a start that fails.
 */
public final class ConfigLoader {

  /** Before every variable of ours. */
  public static final String VARIABLE_PREFIX = "ESCAPEMENT_";

  /** Names the file, where no flag does. */
  public static final String FILE_VARIABLE = VARIABLE_PREFIX + "CONFIG";

  /** Where the distribution is; the launcher sets it. */
  public static final String HOME_VARIABLE = VARIABLE_PREFIX + "HOME";

  /** Ours, but not settings; the launcher reads the last two. */
  private static final Set<String> OTHER_VARIABLES =
      Set.of(
          FILE_VARIABLE,
          HOME_VARIABLE,
          VARIABLE_PREFIX + "JAVA_OPTS",
          VARIABLE_PREFIX + "CLASSPATH");

  private final Map<Key, Setting> settings = new EnumMap<>(Key.class);
  private final Map<String, Setting> kafka = new TreeMap<>();

  private ConfigLoader() {
    for (Key key : Key.values()) {
      settings.put(key, new Setting(key.key(), key.defaultValue(), "the default"));
    }
  }

  /**
   * The settings of a run.
   *
   * @param file as a flag gave it
   * @param environment of the process
   * @param flags what flags gave, by the names that files use
   * @throws ConfigException for a name that is not known or a value that can't be used
   */
  public static Config load(
      Optional<Path> file, Map<String, String> environment, List<Setting> flags) {
    ConfigLoader loader = new ConfigLoader();
    file.or(() -> fileOf(environment)).ifPresent(loader::readFile);
    loader.readEnvironment(environment);
    loader.readFlags(flags);
    return new Config(loader.settings, loader.kafka);
  }

  private static Optional<Path> fileOf(Map<String, String> environment) {
    String named = environment.get(FILE_VARIABLE);
    if (named != null) {
      return Optional.of(Path.of(named));
    }
    // The distribution's own file is there to be edited, and may be absent.
    return Optional.ofNullable(environment.get(HOME_VARIABLE))
        .map(home -> Path.of(home, "conf", "escapement.properties"))
        .filter(Files::exists);
  }

  private void readFile(Path file) {
    Properties properties = new UniqueProperties(file);
    try (Reader text = new StringReader(Files.readString(file, StandardCharsets.UTF_8))) {
      properties.load(text);
    } catch (NoSuchFileException e) {
      throw new ConfigException("configuration file " + file + " does not exist", e);
    } catch (MalformedInputException e) {
      throw new ConfigException("configuration file " + file + " is not UTF-8 text", e);
    } catch (IOException e) {
      throw new ConfigException("configuration file " + file + " can't be read: " + e, e);
    } catch (IllegalArgumentException e) {
      throw new ConfigException("configuration file " + file + ": " + e.getMessage(), e);
    }
    for (String name : new TreeSet<>(properties.stringPropertyNames())) {
      put(new Setting(name, properties.getProperty(name).strip(), "from " + file));
    }
  }

  private void readEnvironment(Map<String, String> environment) {
    for (Map.Entry<String, String> variable : new TreeMap<>(environment).entrySet()) {
      String name = variable.getKey();
      if (name.startsWith(VARIABLE_PREFIX) && !OTHER_VARIABLES.contains(name)) {
        put(new Setting(keyOf(name), variable.getValue(), "from the environment's " + name));
      }
    }
  }

  private static String keyOf(String variable) {
    for (Key key : Key.values()) {
      if (key.variable().equals(variable)) {
        return key.key();
      }
    }
    return KafkaClientSettings.ofVariable(variable.substring(VARIABLE_PREFIX.length()))
        .orElseThrow(
            () ->
                new ConfigException(
                    "unknown setting "
                        + variable
                        + " in the environment"
                        + Suggestion.didYouMean(variable, variables())));
  }

  private static List<String> variables() {
    List<String> all = new ArrayList<>(OTHER_VARIABLES);
    for (Key key : Key.values()) {
      all.add(key.variable());
    }
    for (String name : KafkaClientSettings.names()) {
      all.add(VARIABLE_PREFIX + Key.variableName(name));
    }
    return all;
  }

  private void readFlags(List<Setting> flags) {
    Map<String, Setting> seen = new TreeMap<>();
    for (Setting flag : flags) {
      Setting before = seen.put(flag.key(), flag);
      if (before != null) {
        throw new ConfigException(
            flag.key() + " is " + before.origin() + " and " + flag.origin() + "; keep one");
      }
      put(flag);
    }
  }

  private void put(Setting setting) {
    Optional<Key> key = Key.named(setting.key());
    if (key.isPresent()) {
      settings.put(key.get(), setting);
    } else if (setting.key().startsWith(KafkaClientSettings.PREFIX)) {
      KafkaClientSettings.check(setting);
      kafka.put(setting.key(), setting);
    } else {
      throw new ConfigException(
          "unknown setting " + setting + Suggestion.didYouMean(setting.key(), Key.names()));
    }
  }

  /** Properties that refuse a name that comes twice: the second would win silently. */
  private static final class UniqueProperties extends Properties {
    private static final long serialVersionUID = 1L;

    private final transient Path file;

    UniqueProperties(Path file) {
      this.file = file;
    }

    @Override
    public synchronized Object put(Object name, Object value) {
      if (containsKey(name)) {
        throw new ConfigException(name + " comes twice in " + file + "; keep one");
      }
      return super.put(name, value);
    }
  }
}
