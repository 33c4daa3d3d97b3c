package io.escapement.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** For each rule a class that breaks it, compiled on the spot: it must not stand in the tree. */
final class Offenders {

  private Offenders() {}

  /** The rules and the source of a class that breaks each. */
  static Map<ArchRule, String> all() {
    Map<ArchRule, String> all = new LinkedHashMap<>();
    all.put(Directions.WHEEL_SEES_NOTHING, offender("io.escapement.wheel", "org.slf4j.Logger"));
    all.put(
        Directions.LEDGER_SEES_NO_OTHER_PART_AND_NO_KAFKA,
        offender("io.escapement.ledger", "org.apache.kafka.common.Uuid"));
    all.put(
        Directions.INGEST_SEES_NO_DISPATCHER,
        offender("io.escapement.ingest", "io.escapement.dispatcher.TaskHandler"));
    all.put(
        Directions.DISPATCHER_SEES_NO_INGEST,
        offender("io.escapement.dispatcher", "io.escapement.ingest.IngestConfig"));
    all.put(
        Directions.DEBEZIUM_STAYS_IN_THE_RELAY,
        offender("io.escapement.dispatcher", "io.debezium.engine.DebeziumEngine<?>"));
    all.put(
        Directions.JDBC_STAYS_IN_THE_LEDGER,
        offender("io.escapement.ingest", "java.sql.Connection"));
    all.put(
        Directions.NO_PART_SEES_THE_DISTRIBUTION,
        offender("io.escapement.ledger", "io.escapement.config.Config"));
    all.put(
        Directions.PARTS_DO_NOT_SEE_THE_EMBEDDED_SERVERS,
        offender("io.escapement.ingest", "io.escapement.embedded.EmbeddedStack"));
    all.put(
        Directions.EMBEDDED_SEES_NO_PART,
        offender("io.escapement.embedded", "io.escapement.ledger.Ledger"));
    all.put(
        Directions.STUB_NEEDS_NO_SERVERS,
        offender("io.escapement.embedded.stub", "io.escapement.embedded.EmbeddedStack"));
    all.put(
        Directions.DISPATCH_KNOWS_NO_WALL_CLOCK,
        offender("io.escapement.dispatcher", "java.time.Clock"));
    assertThat(all.keySet()).containsExactlyElementsOf(Directions.all());
    return all;
  }

  /** Compiles one and imports it, and it alone. */
  static JavaClasses compile(String source, Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("Offender.java"), source);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(
                  said,
                  files,
                  null,
                  List.of("-proc:none", "-d", directory.toString()),
                  null,
                  files.getJavaFileObjects(file))
              .call();
      assertThat(compiled).as(said.toString()).isTrue();
    }
    return new ClassFileImporter().importPath(directory);
  }

  private static String offender(String itsPackage, String seen) {
    return "package " + itsPackage + "; final class Offender { " + seen + " seen; }";
  }
}
