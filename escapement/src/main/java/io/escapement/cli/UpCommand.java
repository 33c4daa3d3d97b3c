package io.escapement.cli;

import io.escapement.assembly.CommandFailure;
import io.escapement.assembly.HealthFile;
import io.escapement.assembly.LocalEscapement;
import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.config.Key.Group;
import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.embedded.EmbeddedStack;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** Runs everything on this machine until it is told to stop. */
@Command(
    name = "up",
    description = {
      "Runs a PostgreSQL, a Kafka broker, ingest, relay and dispatcher on this machine, on loopback"
          + " ports, and keeps their data in a directory.",
      "For trying and developing: any Kafka client can produce to it, and psql can look. Ctrl-C drains"
          + " and stops in order; a second one stops at once. What was accepted is still there at"
          + " the next up."
    })
final class UpCommand extends ConfiguredCommand {

  static final String DATABASE = "escapement";

  UpCommand() {
    super(Group.STACK, Group.TOPICS, Group.INGEST, Group.RELAY, Group.DISPATCHER, Group.PROCESS);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Config config = config();
    Path directory = Path.of(config.text(Key.DATA_DIR)).toAbsolutePath().normalize();
    EmbeddedStack.Config servers =
        new EmbeddedStack.Config(
            directory,
            DATABASE,
            config.number(Key.UP_POSTGRES_PORT),
            config.number(Key.UP_KAFKA_PORT),
            false);
    StopSignal stop = StopSignal.install();
    try (HealthFile health = HealthFile.open(config.text(Key.HEALTH_FILE));
        LocalEscapement local = LocalEscapement.start(config, servers, this::say)) {
      logTo(directory.resolve("logs"));
      introduce(local);
      local.parts().await(stop.requested(), health::beat);
      health.stopping();
      say("", "draining and stopping: ingest, dispatcher, relay, Kafka, PostgreSQL");
    }
    say("stopped; the data is kept in " + directory);
    return DONE;
  }

  private static void logTo(Path logs) {
    try {
      Files.createDirectories(logs);
    } catch (IOException e) {
      throw new CommandFailure("data.dir: " + logs + " can't be written: " + e.getMessage(), e);
    }
    Logging.alsoTo(logs.resolve("escapement.log"));
  }

  private void introduce(LocalEscapement local) {
    EmbeddedStack stack = local.stack();
    String bootstrap = stack.bootstrapServers();
    String requests = local.assembly().topics().requests();
    say(
        "",
        "Escapement is up.",
        "  Kafka       " + bootstrap,
        "  PostgreSQL  " + stack.jdbcUrl() + " user " + EmbeddedDatabase.USER + ", no password",
        "  log         " + stack.directory().resolve("logs").resolve("escapement.log"),
        "",
        "Try, in another terminal:",
        "  "
            + launcher()
            + " submit "
            + example()
            + flags(" --kafka-bootstrap-servers=", bootstrap),
        "  " + launcher() + " status" + flags(" --ledger-url=", stack.jdbcUrl()),
        "  psql -h 127.0.0.1 -p "
            + stack.postgresPort()
            + " -U "
            + EmbeddedDatabase.USER
            + " "
            + DATABASE
            + " -c 'table escapement.backlog'",
        "  kafka-console-producer.sh --bootstrap-server " + bootstrap + " --topic " + requests,
        "    and type: {\"specversion\":\"1.0\",\"source\":\"/me\",\"id\":\"1\",\"tenant\":\"north\","
            + "\"type\":\"demo.reminder.send\",\"delayms\":3000}",
        "",
        "Ctrl-C stops it.");
  }

  /** The flag that another command needs, unless what it has by default is right. */
  private static String flags(String flag, String value) {
    Config defaults = Config.defaults();
    boolean usual =
        value.equals(defaults.text(Key.KAFKA_BOOTSTRAP_SERVERS))
            || value.equals(defaults.text(Key.LEDGER_URL));
    return usual ? "" : flag + value;
  }
}
