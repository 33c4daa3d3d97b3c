package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.config.Key.Group;
import io.escapement.kafka.Topics;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prepares a database and a Kafka cluster for the parts. */
@Command(
    name = "migrate",
    description = {
      "Brings the ledger's schema to this version and creates the topics that are missing.",
      "Run it once before the parts, and again with each new version. It changes nothing that is"
          + " current: topics that exist stay as they are."
    })
final class MigrateCommand extends ConfiguredCommand {

  @Option(names = "--skip-topics", description = "Leave Kafka alone.")
  private boolean skipTopics;

  @Option(
      names = "--tenant-topic",
      paramLabel = "TENANT",
      description =
          "Also create a requests topic of this tenant's own; repeat it for several. On it the topic"
              + " is the tenant, so that Kafka's ACLs can say who may use it.")
  private List<String> tenants = List.of();

  MigrateCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.TOPICS);
  }

  @Override
  public Integer call() {
    Assembly assembly = new Assembly(config());
    int applied = assembly.migrate();
    say(applied == 0 ? "schema: current" : "schema: " + applied + " migrations applied");
    if (!skipTopics) {
      for (Topics.Present topic : assembly.createTopics(tenants)) {
        say(
            "topic "
                + topic.topic()
                + ": "
                + (topic.created() ? "created" : "exists")
                + ", partitions: "
                + topic.partitions());
      }
    }
    return DONE;
  }
}
