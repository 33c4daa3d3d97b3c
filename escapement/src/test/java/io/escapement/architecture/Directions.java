package io.escapement.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import io.escapement.dispatcher.TransactionalHandler;
import java.time.Clock;
import java.time.Instant;
import java.util.List;

/** Who may see what: the rules of the house, each with its reason. */
final class Directions {

  private static final String WHEEL = "io.escapement.wheel..";
  private static final String LEDGER = "io.escapement.ledger..";
  private static final String INGEST = "io.escapement.ingest..";
  private static final String DISPATCHER = "io.escapement.dispatcher..";
  private static final String RELAY = "io.escapement.dispatcher.relay..";
  private static final String EMBEDDED = "io.escapement.embedded..";
  private static final String STUB = "io.escapement.embedded.stub..";
  private static final String[] DISTRIBUTION = {
    "io.escapement.assembly..",
    "io.escapement.bench..",
    "io.escapement.cli..",
    "io.escapement.config..",
    "io.escapement.demo..",
    "io.escapement.doctor..",
    "io.escapement.kafka..",
    "io.escapement.submit.."
  };

  /**
   * Who may use JDBC: the ledger, who writes tables of his own with the connection he is handed.
   */
  private static final DescribedPredicate<JavaClass> MAY_USE_JDBC =
      resideInAnyPackage(LEDGER, EMBEDDED)
          .or(assignableTo(TransactionalHandler.class))
          .as("the ledger, the embedded server or a transactional handler");

  private Directions() {}

  static final ArchRule WHEEL_SEES_NOTHING =
      noClasses()
          .that()
          .resideInAPackage(WHEEL)
          .should()
          .dependOnClassesThat()
          .resideOutsideOfPackages(WHEEL, "java..", "org.jspecify..")
          .because("the timing wheel is a library of its own");

  static final ArchRule LEDGER_SEES_NO_OTHER_PART_AND_NO_KAFKA =
      noClasses()
          .that()
          .resideInAPackage(LEDGER)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              WHEEL, INGEST, DISPATCHER, "org.apache.kafka..", "io.debezium..", "java.net.http..")
          .because("the database's truth is told without Kafka and without HTTP");

  static final ArchRule INGEST_SEES_NO_DISPATCHER =
      noClasses()
          .that()
          .resideInAPackage(INGEST)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(DISPATCHER, WHEEL)
          .because("they meet in the ledger and nowhere else");

  static final ArchRule DISPATCHER_SEES_NO_INGEST =
      noClasses()
          .that()
          .resideInAPackage(DISPATCHER)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(INGEST)
          .because("they meet in the ledger and nowhere else");

  static final ArchRule DEBEZIUM_STAYS_IN_THE_RELAY =
      noClasses()
          .that()
          .resideOutsideOfPackage(RELAY)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.debezium..", "org.apache.kafka.connect..")
          .because("how the log is read may change without anybody else noticing");

  static final ArchRule JDBC_STAYS_IN_THE_LEDGER =
      noClasses()
          .that(DescribedPredicate.not(MAY_USE_JDBC))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("java.sql..", "javax.sql..", "org.postgresql..", "com.zaxxer..")
          .because("the protocol is the only door");

  static final ArchRule NO_PART_SEES_THE_DISTRIBUTION =
      noClasses()
          .that()
          .resideInAnyPackage(WHEEL, LEDGER, INGEST, DISPATCHER, EMBEDDED)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(DISTRIBUTION)
          .because("dependencies point one way");

  static final ArchRule PARTS_DO_NOT_SEE_THE_EMBEDDED_SERVERS =
      noClasses()
          .that()
          .resideInAnyPackage(WHEEL, LEDGER, INGEST, DISPATCHER)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(EMBEDDED)
          .because("they run against any PostgreSQL and any Kafka");

  static final ArchRule EMBEDDED_SEES_NO_PART =
      noClasses()
          .that()
          .resideInAPackage(EMBEDDED)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(WHEEL, LEDGER, INGEST, DISPATCHER)
          .because("the tests of all parts are built on it");

  static final ArchRule STUB_NEEDS_NO_SERVERS =
      noClasses()
          .that()
          .resideInAPackage(STUB)
          .should()
          .dependOnClassesThat()
          .resideOutsideOfPackages(
              STUB,
              "java..",
              "javax.crypto..",
              "com.sun.net.httpserver..",
              "com.fasterxml.jackson..",
              "org.jspecify..")
          .because("a provider knows nothing of us, and its process starts at once");

  static final ArchRule DISPATCH_KNOWS_NO_WALL_CLOCK =
      noClasses()
          .that()
          .resideInAPackage("io.escapement.dispatcher")
          .and()
          // Hands its library a Clock that is the monotonic one.
          .haveNameNotMatching("io\\.escapement\\.dispatcher\\.Breakers(\\$.*)?")
          .should()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Clock.class)
          .because("what is due is for the database's clock to say, however wrong the host's is");

  /** All of them. */
  static List<ArchRule> all() {
    return List.of(
        WHEEL_SEES_NOTHING,
        LEDGER_SEES_NO_OTHER_PART_AND_NO_KAFKA,
        INGEST_SEES_NO_DISPATCHER,
        DISPATCHER_SEES_NO_INGEST,
        DEBEZIUM_STAYS_IN_THE_RELAY,
        JDBC_STAYS_IN_THE_LEDGER,
        NO_PART_SEES_THE_DISTRIBUTION,
        PARTS_DO_NOT_SEE_THE_EMBEDDED_SERVERS,
        EMBEDDED_SEES_NO_PART,
        STUB_NEEDS_NO_SERVERS,
        DISPATCH_KNOWS_NO_WALL_CLOCK);
  }
}
