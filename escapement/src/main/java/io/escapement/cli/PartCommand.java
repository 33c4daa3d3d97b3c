package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.assembly.HealthFile;
import io.escapement.assembly.Part;
import io.escapement.assembly.Parts;
import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;

/** Runs one part until it is told to stop. */
abstract class PartCommand extends ConfiguredCommand {

  PartCommand(Group ownGroup) {
    super(Group.LEDGER, Group.KAFKA, Group.TOPICS, ownGroup, Group.PROCESS);
  }

  /** Starts the part. */
  abstract Part start(Assembly assembly);

  @Override
  public final Integer call() throws InterruptedException {
    StopSignal stop = StopSignal.install();
    Config config = config();
    try (HealthFile health = HealthFile.open(config.text(Key.HEALTH_FILE));
        Parts parts = new Parts()) {
      Part part = start(new Assembly(config));
      parts.add(part);
      say(part.name() + " runs; Ctrl-C or SIGTERM stops it, a second one at once");
      parts.await(stop.requested(), health::beat);
      health.stopping();
      say("stopping");
    }
    say("stopped");
    return DONE;
  }

  /** Decides requests. */
  @Command(
      name = "ingest",
      description = {
        "Runs ingest: decides every record of the requests topics, once.",
        "Any number may run; they share the partitions."
      })
  static final class Ingest extends PartCommand {
    Ingest() {
      super(Group.INGEST);
    }

    @Override
    Part start(Assembly assembly) {
      return assembly.ingest();
    }
  }

  /** Tells Kafka what the ledger has committed. */
  @Command(
      name = "relay",
      description = {
        "Runs a relay: puts what the ledger has committed into Kafka, receipts, hints and outcomes.",
        "Any number may run; one works, the others take over when it stops."
      })
  static final class Relay extends PartCommand {
    Relay() {
      super(Group.RELAY);
    }

    @Override
    Part start(Assembly assembly) {
      return assembly.relay();
    }
  }

  /** Does the work. */
  @Command(
      name = "dispatch",
      description = {
        "Runs a dispatcher: finds due tasks, runs their handlers and completes them, once.",
        "Any number may run; they share the slots. Handlers are found in the distribution's handlers"
            + " directory."
      })
  static final class Dispatch extends PartCommand {
    Dispatch() {
      super(Group.DISPATCHER);
    }

    @Override
    Part start(Assembly assembly) {
      return assembly.dispatcher();
    }
  }
}
