package io.escapement.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigLoaderTest {

  @TempDir private Path directory;

  @Test
  void theLaterSourceIsTheStronger() throws Exception {
    Optional<Path> file =
        file("ledger.user=file\nledger.pool=11\ntopics.prefix=file\nkafka.linger.ms=1\n");
    Map<String, String> environment =
        Map.of(
            "ESCAPEMENT_LEDGER_USER", "environment",
            "ESCAPEMENT_LEDGER_POOL", "12",
            "ESCAPEMENT_KAFKA_LINGER_MS", "2");
    List<Setting> flags = List.of(new Setting("ledger.user", "flag", "given by --ledger-user"));

    Config config = ConfigLoader.load(file, environment, flags);

    assertThat(config.text(Key.LEDGER_USER)).isEqualTo("flag");
    assertThat(config.number(Key.LEDGER_POOL)).isEqualTo(12);
    assertThat(config.text(Key.TOPICS_PREFIX)).isEqualTo("file");
    assertThat(config.time(Key.KAFKA_TIMEOUT)).isEqualTo(Duration.ofSeconds(10));
    assertThat(config.kafkaClient()).containsEntry("linger.ms", "2");
  }

  @Test
  void theFileIsTheFlagsThenTheVariablesThenTheDistributions() throws Exception {
    Path home = directory.resolve("home");
    Files.createDirectories(home.resolve("conf"));
    Files.writeString(home.resolve("conf/escapement.properties"), "ledger.user=home\n");
    Path other = Files.writeString(directory.resolve("other"), "ledger.user=variable\n");
    Optional<Path> flag = file("ledger.user=flag\n");
    Map<String, String> both =
        Map.of("ESCAPEMENT_HOME", home.toString(), "ESCAPEMENT_CONFIG", other.toString());
    Map<String, String> justHome = Map.of("ESCAPEMENT_HOME", home.toString());

    assertThat(user(ConfigLoader.load(flag, both, List.of()))).isEqualTo("flag");
    assertThat(user(ConfigLoader.load(Optional.empty(), both, List.of()))).isEqualTo("variable");
    assertThat(user(ConfigLoader.load(Optional.empty(), justHome, List.of()))).isEqualTo("home");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          leger.url=x             | unknown setting leger.url | did you mean ledger.url?
          kafka.secrity.protocol=x| unknown setting kafka.secrity.protocol | did you mean kafka.security.protocol?
          kafka.bootstrap-server=x| unknown setting kafka.bootstrap-server | did you mean kafka.bootstrap-servers?
          kafka.bootstrap.servers=x| kafka.bootstrap.servers | write kafka.bootstrap-servers
          kafka.isolation.level=x | kafka.isolation.level | remove it
          ledger.pool=many        | ledger.pool is 'many' | write a whole number from 1 to 200
          ledger.pool=0           | ledger.pool is '0' | write a whole number from 1 to 200
          ledger.url=localhost    | ledger.url is 'localhost' | write jdbc:postgresql://host:port/database
          kafka.timeout=10        | kafka.timeout is '10' | write a number with its unit
          kafka.timeout=10d       | kafka.timeout is '10d' | write 1s to 5m
          kafka.bootstrap-servers=localhost | kafka.bootstrap-servers is 'localhost' | write host:port
          topics.prefix=a b       | topics.prefix is 'a b' | write letters
          """)
  void whatCannotBeUsedIsRefusedWithItsFileAndTheCure(String line, String setting, String cure)
      throws Exception {
    Optional<Path> file = file(line + "\n");
    assertThatThrownBy(() -> ConfigLoader.load(file, Map.of(), List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(setting)
        .hasMessageContaining("from " + file.get())
        .hasMessageContaining(cure);
  }

  @Test
  void aVariableThatIsNotKnownIsRefusedAndOthersAreNotOurs() {
    assertThat(ConfigLoader.load(Optional.empty(), Map.of("LEDGER_URL", "x"), List.of()))
        .hasToString(Config.defaults().toString());
    Map<String, String> misspelt = Map.of("ESCAPEMENT_LEGER_URL", "x");
    assertThatThrownBy(() -> ConfigLoader.load(Optional.empty(), misspelt, List.of()))
        .hasMessage(
            "unknown setting ESCAPEMENT_LEGER_URL in the environment;"
                + " did you mean ESCAPEMENT_LEDGER_URL?");
  }

  @Test
  void aNameThatComesTwiceIsRefused() throws Exception {
    Optional<Path> file = file("ledger.user=a\nledger.user=b\n");
    assertThatThrownBy(() -> ConfigLoader.load(file, Map.of(), List.of()))
        .hasMessage("ledger.user comes twice in " + file.get() + "; keep one");
    List<Setting> flags =
        List.of(
            new Setting("ledger.user", "a", "given by --ledger-user"),
            new Setting("ledger.user", "b", "given by --set"));
    assertThatThrownBy(() -> ConfigLoader.load(Optional.empty(), Map.of(), flags))
        .hasMessage("ledger.user is given by --ledger-user and given by --set; keep one");
  }

  @Test
  void aFileThatCannotBeReadIsNamed() throws Exception {
    Path absent = directory.resolve("absent");
    assertThatThrownBy(() -> ConfigLoader.load(Optional.of(absent), Map.of(), List.of()))
        .hasMessage("configuration file " + absent + " does not exist");
    Path latin = directory.resolve("latin");
    Files.write(latin, "ledger.user=M\u00fcller".getBytes(StandardCharsets.ISO_8859_1));
    assertThatThrownBy(() -> ConfigLoader.load(Optional.of(latin), Map.of(), List.of()))
        .hasMessage("configuration file " + latin + " is not UTF-8 text");
    Optional<Path> escape = file("ledger.user=\\uZZZZ\n");
    assertThatThrownBy(() -> ConfigLoader.load(escape, Map.of(), List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(escape.get().toString());
  }

  @Test
  void secretsAreMaskedWhereverSettingsAreShown() throws Exception {
    Optional<Path> file =
        file("ledger.password=hunter2\nkafka.sasl.jaas.config=hunter2\nkafka.linger.ms=5\n");
    assertThat(ConfigLoader.load(file, Map.of(), List.of()).toString())
        .doesNotContain("hunter2")
        .contains("ledger.password=***", "kafka.sasl.jaas.config=***", "kafka.linger.ms=5");
  }

  private Optional<Path> file(String content) throws IOException {
    return Optional.of(Files.writeString(directory.resolve("test.properties"), content));
  }

  private static String user(Config config) {
    return config.text(Key.LEDGER_USER);
  }
}
