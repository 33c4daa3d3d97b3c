package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.config.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** What docker-compose.yml and the Dockerfile promise, as far as it can be read without Docker. */
class ComposeFileTest {

  private static final Set<String> PARTS = Set.of("ingest", "relay", "dispatcher");

  private static Map<String, Map<String, Object>> services;
  private static List<String> dockerfile;

  @BeforeAll
  static void read() throws IOException {
    Object file =
        new Yaml(new SafeConstructor(new LoaderOptions()))
            .load(Files.readString(Path.of("../docker-compose.yml")));
    services = map(at(map(file), "services"));
    dockerfile = Files.readAllLines(Path.of("Dockerfile"));
  }

  @Test
  void itHasTheServersTheirPreparationAndTheParts() {
    assertThat(services)
        .containsOnlyKeys("postgres", "kafka", "migrate", "ingest", "relay", "dispatcher");
    assertThat(replicas("ingest")).isEqualTo(2);
    assertThat(replicas("relay")).isEqualTo(2);
    assertThat(replicas("dispatcher")).isEqualTo(3);
  }

  @Test
  void onlyLoopbackPortsArePublished() {
    services.forEach(
        (name, service) -> {
          Object ports = service.getOrDefault("ports", List.of());
          assertThat((List<?>) ports)
              .as(name)
              .allMatch(port -> String.valueOf(port).startsWith("127.0.0.1:"));
          assertThat(service).as(name).doesNotContainKey("network_mode");
        });
    assertThat(service("postgres")).containsKey("ports");
  }

  @Test
  void itHoldsNoSecrets() throws IOException {
    assertThat(Files.readString(Path.of("../docker-compose.yml")))
        .doesNotContainIgnoringCase("secret")
        .doesNotContainPattern("(PASSWORD|TOKEN|KEY)[A-Z_]*\\s*[:=]");
  }

  @Test
  void nothingStartsBeforeWhatItNeedsIsHealthy() {
    assertThat(map(at(service("migrate"), "depends_on")))
        .isEqualTo(
            Map.of(
                "postgres", Map.of("condition", "service_healthy"),
                "kafka", Map.of("condition", "service_healthy")));
    for (String server : List.of("postgres", "kafka")) {
      assertThat(service(server)).containsKey("healthcheck");
    }
    for (String part : PARTS) {
      assertThat(map(at(service(part), "depends_on")))
          .isEqualTo(Map.of("migrate", Map.of("condition", "service_completed_successfully")));
    }
  }

  @Test
  void theDatabaseHasALogicalLogThatASlotMayNotHoldBackForEver() {
    assertThat((List<?>) at(service("postgres"), "command"))
        .anyMatch("wal_level=logical"::equals)
        .anyMatch(word -> String.valueOf(word).matches("max_slot_wal_keep_size=\\dGB"));
  }

  @Test
  void everySettingIsOneThatThereIs() {
    List<String> known = Arrays.stream(Key.values()).map(Key::variable).toList();
    for (String service : List.of("migrate", "ingest", "relay", "dispatcher")) {
      Map<String, ?> environment = map(at(service(service), "environment"));
      assertThat(environment.keySet()).as(service).isNotEmpty().isSubsetOf(known);
      assertThat(environment).as(service).containsKey(Key.TOPICS_PARTITIONS.variable());
    }
  }

  /** A launcher refuses unknown variables of its prefix, so these may not have it. */
  @Test
  void itsOwnVariablesDoNotLookLikeSettings() throws IOException {
    Matcher variable =
        Pattern.compile("\\$\\{([A-Z_]+)")
            .matcher(Files.readString(Path.of("../docker-compose.yml")));
    Set<String> found = new TreeSet<>();
    while (variable.find()) {
      found.add(variable.group(1));
    }
    assertThat(found)
        .containsExactly(
            "IMAGE_BASE",
            "IMAGE_DISTRIBUTION",
            "IMAGE_NAME",
            "PUBLISHED_KAFKA_PORT",
            "PUBLISHED_POSTGRES_PORT");
  }

  @Test
  void theContainersLaneUsesTheSameImages() {
    assertThat(at(service("postgres"), "image")).isEqualTo(ContainerServers.POSTGRES_IMAGE);
    assertThat(at(service("kafka"), "image")).isEqualTo(ContainerServers.KAFKA_IMAGE);
  }

  /** Several would be built at once, under one name. */
  @Test
  void oneServiceBuildsTheImageThatTheOthersUse() {
    assertThat(services.values().stream().filter(one -> one.containsKey("build"))).hasSize(1);
    assertThat(service("migrate")).containsKey("build");
    for (String part : PARTS) {
      assertThat(service(part)).containsEntry("pull_policy", "never");
      assertThat(service(part).get("image")).isEqualTo(service("migrate").get("image"));
    }
  }

  @Test
  void volumesAreNamed() {
    for (String server : List.of("postgres", "kafka")) {
      assertThat((List<?>) at(service(server), "volumes"))
          .anyMatch(volume -> String.valueOf(volume).startsWith(server + ":/"));
    }
  }

  @Test
  void whatChangesMostIsCopiedLastAndNobodyIsRoot() {
    List<String> copied = dockerfile.stream().filter(line -> line.startsWith("COPY ")).toList();
    assertThat(copied.get(0)).startsWith("COPY lib/ ");
    assertThat(copied.get(copied.size() - 1)).startsWith("COPY app/ ");
    assertThat(dockerfile).contains("USER 10001:10001").anyMatch(l -> l.startsWith("HEALTHCHECK "));
    // In exec form, so that the launcher, and then the Java runtime, is process 1.
    assertThat(dockerfile).contains("ENTRYPOINT [\"/opt/escapement/bin/escapement\"]");
  }

  private static int replicas(String service) {
    return (Integer) at(map(at(service(service), "deploy")), "replicas");
  }

  private static Map<String, Object> service(String name) {
    return map(at(services, name));
  }

  private static Object at(Map<String, ?> node, String key) {
    return Objects.requireNonNull(node.get(key), key);
  }

  @SuppressWarnings("unchecked")
  private static <V> Map<String, V> map(Object value) {
    return (Map<String, V>) value;
  }
}
