package io.escapement.cli;

import io.escapement.cli.Main.Terminal;
import io.escapement.config.Config;
import io.escapement.config.ConfigException;
import io.escapement.config.ConfigLoader;
import io.escapement.config.Key;
import io.escapement.config.Setting;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/**
 * A command with settings: it has a flag for each key of its groups, and {@code --config} and
 * {@code --set} for the others.
 */
abstract class ConfiguredCommand implements Callable<Integer> {

  static final int DONE = 0;
  static final int FAILED = 1;

  private static final Logger LOG = LoggerFactory.getLogger(ConfiguredCommand.class);

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "Settings file. Default: $ESCAPEMENT_CONFIG, else conf/escapement.properties of the"
              + " distribution.")
  private @Nullable Path file;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Any setting by its name in a file, kafka.security.protocol=SSL say.")
  private List<String> assignments = List.of();

  private final Set<Key.Group> groups;
  private @Nullable CommandSpec spec;
  private @Nullable Terminal terminal;
  private Map<String, String> environment = Map.of();

  ConfiguredCommand(Key.Group... groups) {
    this.groups = Set.of(groups);
  }

  /** Adds the flags and says where to write. */
  final void attach(CommandSpec ownSpec, Terminal streams, Map<String, String> variables) {
    spec = ownSpec;
    terminal = streams;
    environment = variables;
    ownSpec.usageMessage().sortOptions(false).abbreviateSynopsis(true);
    ownSpec.mixinStandardHelpOptions(true);
    addOptions(ownSpec);
    for (Key key : Key.values()) {
      if (groups.contains(key.group())) {
        ownSpec.addOption(
            OptionSpec.builder(key.flag())
                .paramLabel(key.placeholder())
                .type(String.class)
                .description(
                    key.meaning().replace("%", "%%").replace("`", "")
                        + (key.defaultValue().isEmpty() ? "" : " Default: " + key.defaultValue()))
                .build());
      }
    }
  }

  /** For options that are no settings and no fields. */
  void addOptions(CommandSpec ownSpec) {}

  /** The settings of this run. */
  final Config config() {
    List<Setting> flags = new ArrayList<>();
    for (Key key : Key.values()) {
      OptionSpec option = commandSpec().findOption(key.flag());
      if (option != null && option.getValue() instanceof String value) {
        flags.add(new Setting(key.key(), value, "given by " + key.flag()));
      }
    }
    for (String assignment : assignments) {
      int equals = assignment.indexOf('=');
      if (equals < 1) {
        throw new ConfigException("--set is '" + assignment + "'; write --set key=value");
      }
      flags.add(
          new Setting(
              assignment.substring(0, equals).strip(),
              assignment.substring(equals + 1),
              "given by --set"));
    }
    Config config = ConfigLoader.load(Optional.ofNullable(file), environment, flags);
    LOG.info("settings: {}", config);
    return config;
  }

  /** Where the distribution is, if a launcher started this. */
  final Optional<Path> home() {
    return Optional.ofNullable(environment.get(ConfigLoader.HOME_VARIABLE)).map(Path::of);
  }

  /** How a person calls this program again. */
  final String launcher() {
    return home()
        .map(home -> home.resolve("bin").resolve("escapement").toString())
        .orElse("escapement");
  }

  /** The shipped file of events. */
  final String example() {
    return home()
        .map(home -> home.resolve("examples").resolve("demo.jsonl").toString())
        .orElse("FILE.jsonl");
  }

  final PrintStream out() {
    return streams().out();
  }

  final PrintStream err() {
    return streams().err();
  }

  final void say(String... lines) {
    Arrays.stream(lines).forEach(out()::println);
    out().flush();
  }

  private Terminal streams() {
    if (terminal == null) {
      throw new IllegalStateException("not attached");
    }
    return terminal;
  }

  private CommandSpec commandSpec() {
    if (spec == null) {
      throw new IllegalStateException("not attached");
    }
    return spec;
  }
}
