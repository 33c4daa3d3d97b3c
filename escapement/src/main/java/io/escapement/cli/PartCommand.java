package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.assembly.HealthFile;
import io.escapement.assembly.Part;
import io.escapement.assembly.Parts;
import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.config.Key.Group;
import java.nio.file.Path;
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
    try (Parts parts = new Parts()) {
      Part part = start(new Assembly(config));
      parts.add(part);
      String health = config.text(Key.HEALTH_FILE);
      if (health.isEmpty()) {
        run(part, parts, stop, () -> {});
      } else {
        try (HealthFile file = HealthFile.open(Path.of(health))) {
          run(part, parts, stop, file::beat);
        }
      }
    }
    say("stopped");
    return DONE;
  }

  private void run(Part part, Parts parts, StopSignal stop, Runnable meanwhile)
      throws InterruptedException {
    say(part.name() + " runs; Ctrl-C or SIGTERM stops it, a second one at once");
    parts.await(stop.requested(), meanwhile);
    say("stopping");
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
