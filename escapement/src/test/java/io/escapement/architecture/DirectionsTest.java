package io.escapement.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class DirectionsTest {

  private static final JavaClasses OURS =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.escapement");

  @TempDir private Path scratch;

  @TestFactory
  Stream<DynamicTest> everyRuleHolds() {
    return Directions.all().stream()
        .map(rule -> DynamicTest.dynamicTest(rule.getDescription(), () -> rule.check(OURS)));
  }

  /** Rules about no classes hold for ever. */
  @Test
  void everyModuleIsLookedAt() {
    for (String name :
        List.of(
            "io.escapement.wheel.TimerWheel",
            "io.escapement.ledger.Ledger",
            "io.escapement.ingest.IngestAssembly",
            "io.escapement.dispatcher.Dispatcher",
            "io.escapement.dispatcher.relay.Relay",
            "io.escapement.embedded.EmbeddedStack",
            "io.escapement.embedded.stub.StubProvider",
            "io.escapement.cli.Main")) {
      assertThat(OURS.contain(name)).as(name).isTrue();
    }
  }

  /** The canary: each rule finds the class that breaks it. */
  @TestFactory
  Stream<DynamicTest> everyRuleCanFire() {
    return Offenders.all().entrySet().stream()
        .map(
            offence ->
                DynamicTest.dynamicTest(
                    offence.getKey().getDescription(),
                    () -> assertFires(offence.getKey(), offence.getValue())));
  }

  private void assertFires(ArchRule rule, String source) throws Exception {
    JavaClasses broken = Offenders.compile(source, scratch);
    assertThatThrownBy(() -> rule.check(broken))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Offender");
  }
}
