package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * A sequence of commands, each a random number, run against the ledger and against the model, which
 * must agree on every answer and, after every command, on every row.
 *
 * <p>What a number means depends on it and on what the model holds, so that any subsequence is a
 * script too: that is how a failing one is shrunk.
 */
final class LedgerScript {

  private static final int COMMANDS_PER_AUDIT = 20;

  private final LedgerDuo duo;
  private final WorkCommands work;
  private final OperatorCommands operators;

  LedgerScript(LedgerRows rows, Set<String> rulesUsed, Set<String> answers) {
    duo = new LedgerDuo(rows, rulesUsed, answers);
    work = new WorkCommands(duo);
    operators = new OperatorCommands(duo);
  }

  static long[] random(long seed, int length) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] commands = new long[length];
    Arrays.setAll(commands, i -> random.nextLong());
    return commands;
  }

  /** What a ledger needs before the first script. */
  static void define(LedgerRows rows) {
    LedgerDuo.CHANNELS.forEach(c -> rows.operator.defineChannel(c, "model"));
  }

  /** The commands so far, in words. */
  List<String> log() {
    return duo.log();
  }

  void run(long[] commands) {
    duo.rows.empty();
    LedgerDuo.KINDS.forEach(
        kind -> {
          duo.rows.define(kind);
          duo.model.kinds.put(kind.name(), kind);
        });
    LedgerDuo.CHANNELS.forEach(c -> duo.model.channels.put(c.name(), c));
    duo.model.channels.put(
        "local", new ChannelDefinition("local", Contract.TRANSACTIONAL, null, null, null));
    operators.setLimits(20, 250);
    for (String tenant : LedgerDuo.TENANTS) {
      for (String channel : duo.model.channels.keySet()) {
        Preference on = new Preference(tenant, "u", channel, "to:" + channel, true, null);
        duo.rows.switchOn(on);
        duo.model.setPreference(on);
      }
    }
    for (int i = 0; i < commands.length; i++) {
      apply(new SplittableRandom(commands[i]), "w" + i);
      duo.compareRows();
      if (i % COMMANDS_PER_AUDIT == 0) {
        assertThat(duo.rows.operator.audit()).isEmpty();
      }
    }
    assertThat(duo.rows.operator.audit()).isEmpty();
  }

  private void apply(SplittableRandom random, String owner) {
    int choice = random.nextInt(100);
    boolean runs = duo.model.tasks().stream().anyMatch(t -> t.state == TaskState.CLAIMED);
    if (choice >= 37 && choice < 59 && !runs && random.nextInt(8) > 0) {
      work.claimDue(random, owner);
    } else if (choice < 16) {
      work.admit(random);
    } else if (choice < 26) {
      work.claim(random, owner);
    } else if (choice < 37) {
      work.claimDue(random, owner);
    } else if (choice < 59) {
      work.observe(random);
    } else if (choice < 70) {
      work.pass(random);
    } else if (choice < 74) {
      work.reclaim(random);
    } else if (choice < 77) {
      work.renew(random);
    } else if (choice < 81) {
      operators.cancel(random);
    } else if (choice < 91) {
      operate(random);
    } else if (choice < 95) {
      operators.preference(random);
    } else {
      administer(random);
    }
  }

  private void operate(SplittableRandom random) {
    switch (random.nextInt(10)) {
      case 0, 1 -> operators.quarantine(random);
      case 2, 3, 4 -> operators.redrive(random);
      case 5 -> operators.reschedule(random);
      case 6, 7 -> operators.resolve(random);
      case 8 -> operators.resolveAll(random);
      default -> operators.redriveAll(random);
    }
  }

  private void administer(SplittableRandom random) {
    switch (random.nextInt(10)) {
      case 0, 1 -> operators.limits(random);
      case 2, 3, 4 -> operators.pause(random);
      case 5 -> operators.retire(random);
      case 6, 7 -> work.horizon(random);
      case 8 -> operators.fold();
      default -> operators.redefine(random);
    }
  }
}
