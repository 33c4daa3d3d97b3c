package io.escapement.ledger;

import static io.escapement.ledger.LedgerModel.NONE;
import static io.escapement.ledger.LedgerModel.ticks;
import static io.escapement.ledger.TaskState.CANCELLED;
import static io.escapement.ledger.TaskState.CLAIMED;
import static io.escapement.ledger.TaskState.DONE;
import static io.escapement.ledger.TaskState.FAILED;
import static io.escapement.ledger.TaskState.QUARANTINED;
import static io.escapement.ledger.TaskState.SCHEDULED;
import static io.escapement.ledger.TaskState.SUPPRESSED;
import static io.escapement.ledger.TaskState.UNKNOWN;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A task of the {@link LedgerModel}, and the rules of its life in words. */
final class ModelTask {

  private static final Set<String> ACCEPTED = Set.of("ACCEPTED", "ACCEPTED_REPLAY", "QUERY_FOUND");

  /** An attempt that has ended. */
  static final class Attempt {
    final int number;
    final String worker;
    final String action;
    final String outcome;
    String late = "-";

    Attempt(int number, String worker, String action, String outcome) {
      this.number = number;
      this.worker = worker;
      this.action = action;
      this.outcome = outcome;
    }
  }

  private final LedgerModel model;
  final LedgerModel.Intent intent;
  final ChannelDefinition channel;
  final String label;
  final String queue;
  final List<Attempt> attempts = new ArrayList<>();
  TaskState state = SCHEDULED;
  long due;
  int attempt;
  long leaseUntil = NONE;
  String action = "-";
  private int tries;
  private String owner = "-";
  private long claimedAt = NONE;
  private long firstSent = NONE;

  /** Until then what a queryable channel was sent may not be found yet. */
  private long askFrom = NONE;

  private boolean uncertain;
  private boolean cancel;
  private boolean started;
  private int effectOf;

  ModelTask(
      LedgerModel model,
      LedgerModel.Intent intent,
      ChannelDefinition channel,
      String queue,
      int tries,
      long due) {
    this.model = model;
    this.intent = intent;
    this.channel = channel;
    this.label = intent.key + "|" + channel.name();
    this.queue = queue;
    this.tries = tries;
    this.due = due;
  }

  boolean waits() {
    return (state == SCHEDULED || state == UNKNOWN) && due != NONE;
  }

  boolean parked() {
    return state == UNKNOWN && due == NONE;
  }

  boolean ended() {
    return state == DONE || state == FAILED || state == CANCELLED || state == SUPPRESSED;
  }

  boolean expired() {
    return intent.asked.expires() != NONE && intent.asked.expires() <= model.now;
  }

  /** The provider may have forgotten the key before another call ends. */
  boolean keyExpired() {
    return uncertain
        && channel.keyRetention() != null
        && firstSent + ticks(channel.keyRetention()) <= model.now + ticks(channel.timeout());
  }

  private boolean is(Contract contract) {
    return channel.contract() == contract;
  }

  // Claims

  String claim(String worker) {
    action = is(Contract.TRANSACTIONAL) ? "RUN" : "SEND";
    if (is(Contract.QUERYABLE) && uncertain) {
      action = "QUERY";
    }
    if (action.equals("SEND") && firstSent == NONE) {
      firstSent = model.now;
    }
    state = CLAIMED;
    started = true;
    attempt++;
    tries--;
    owner = worker;
    claimedAt = model.now;
    leaseUntil = model.now + ticks(kind().lease());
    return label + " CLAIMED " + attempt + " " + action + " " + uncertain + " " + tries;
  }

  String renew(int its) {
    if (state != CLAIMED || attempt != its || leaseUntil <= model.now) {
      return label + " LOST";
    }
    long longest = claimedAt + ticks(kind().timeout());
    leaseUntil = Math.max(leaseUntil, Math.min(model.now + ticks(kind().lease()), longest));
    return label + (cancel ? " CANCEL_REQUESTED" : " RENEWED");
  }

  // Observations

  static boolean fits(String action, String seen) {
    return switch (seen) {
      case "COMPLETED", "FAILED", "POISONED" -> action.equals("RUN");
      case "ACCEPTED", "ACCEPTED_REPLAY", "REFUSED", "REJECTED", "TIMEOUT", "IO_ERROR", "UNCLEAR" ->
          action.equals("SEND");
      case "QUERY_FOUND", "QUERY_NOT_FOUND", "QUERY_FAILED" -> action.equals("QUERY");
      default -> true;
    };
  }

  String observe(int its, String seen, long wait) {
    if (state == CLAIMED && attempt == its) {
      boolean late = action.equals("RUN") && !seen.equals("RELEASED") && leaseUntil <= model.now;
      settle(late ? "LEASE_EXPIRED" : seen, wait);
      if (late) {
        attempts.getLast().late = seen;
      }
      return label + (late ? " LATE " : " APPLIED ") + stateAndDue();
    }
    for (Attempt a : attempts) {
      if (a.number == its && a.outcome.equals("LEASE_EXPIRED")) {
        if (a.late.equals("-") && fits(a.action, seen)) {
          a.late = seen;
          if (ACCEPTED.contains(seen) && state != CLAIMED && state != DONE) {
            tell("contradicted");
          }
        }
        return label + " LATE " + stateAndDue();
      }
      if (a.number == its) {
        return label + " REPEATED " + state + " " + a.outcome;
      }
    }
    return label + " NO_SUCH_ATTEMPT";
  }

  private String stateAndDue() {
    return state + " " + LedgerModel.ago(waits() ? due : NONE, model.now);
  }

  /** An attempt ends; without a claim it is one of its own. */
  void settle(String seen, long wait) {
    KindDefinition kind = kind();
    long now = model.now;
    model.rulesUsed.add(
        String.join(
            " ",
            channel.contract().name(),
            seen,
            uncertain ? "yes" : "no",
            tries > 0 ? "left" : "used",
            cancel ? "cancel" : "-",
            kind.exhaustion().name()));
    boolean claimed = state == CLAIMED;
    if (is(Contract.QUERYABLE) && action.equals("SEND")) {
      long lag = seen.equals("LEASE_EXPIRED") ? ticks(channel.timeout()) : 0;
      askFrom = now + lag + ticks(channel.settle());
    }
    int number = claimed ? attempt : attempt + 1;
    TaskState dead = kind.exhaustion() == KindDefinition.Exhaustion.FAILED ? FAILED : QUARANTINED;
    long doubled = ticks(kind.backoffBase()) << Math.max(0, freshTries() - tries - 1);
    long backoff = now + Math.min(doubled, ticks(kind.backoffCap()));
    switch (seen) {
      case "COMPLETED" -> {
        effectOf = cancel ? 0 : number;
        endUnlessCancelled(DONE);
      }
      case "ACCEPTED", "ACCEPTED_REPLAY", "QUERY_FOUND", "MANUAL_DONE" -> end(DONE);
      case "MANUAL_FAILED" -> end(FAILED);
      case "POISONED" -> endUnlessCancelled(dead);
      case "REJECTED", "TTL_EXPIRED" -> endUnlessAtLarge(FAILED);
      case "PREFERENCE_OFF" -> endUnlessAtLarge(SUPPRESSED);
      case "FAILED" -> tryAgain(backoff, dead);
      case "QUERY_NOT_FOUND" -> tryAgain(now, dead);
      case "QUERY_FAILED" -> seek(backoff);
      case "KEY_EXPIRED" -> go(UNKNOWN, NONE);
      case "TIMEOUT", "IO_ERROR", "UNCLEAR" -> seek(Math.max(backoff, settled(now)));
      case "LEASE_EXPIRED" -> {
        if (is(Contract.TRANSACTIONAL)) {
          tryAgain(now, dead);
        } else {
          seek(Math.max(backoff, settled(leaseUntil + ticks(channel.timeout()))));
        }
      }
      case "REFUSED" ->
          seekOrTryAgain(wait == NONE ? backoff : Math.max(backoff, now + wait), dead);
      case "RELEASED" -> {
        tries++;
        seekOrTryAgain(wait == NONE ? now : now + wait, dead);
      }
      case "MANUAL_RETRY" -> {
        tries = cancel ? tries : freshTries();
        tryAgain(now, dead);
      }
      default -> throw new IllegalArgumentException(seen);
    }
    attempts.add(new Attempt(number, owner, claimed ? action : "NONE", seen));
    attempt = number;
    action = "-";
    owner = "-";
    claimedAt = NONE;
    leaseUntil = NONE;
    uncertain = state == UNKNOWN;
    firstSent = uncertain ? firstSent : NONE;
    if (!waits()) {
      tell(parked() ? "parked" : state.name().toLowerCase(Locale.ROOT));
    }
  }

  private KindDefinition kind() {
    return model.kind(this);
  }

  private void tell(String change) {
    model.told.add(label + " " + change);
  }

  /** When what a call left can be found, if it ended then. */
  private long settled(long end) {
    boolean called = is(Contract.QUERYABLE) && action.equals("SEND");
    return called ? end + ticks(channel.settle()) : NONE;
  }

  private int freshTries() {
    Integer asked = intent.asked.maxAttempts();
    return asked == null ? kind().maxAttempts() : asked;
  }

  private void go(TaskState next, long when) {
    state = next;
    due = when;
  }

  private void end(TaskState next) {
    go(next, NONE);
  }

  private void endUnlessCancelled(TaskState next) {
    end(cancel ? CANCELLED : next);
  }

  /** What may have been accepted is nobody's to give up but a person's. */
  private void endUnlessAtLarge(TaskState next) {
    if (uncertain) {
      go(UNKNOWN, NONE);
    } else {
      endUnlessCancelled(next);
    }
  }

  /** Nothing is at large. */
  private void tryAgain(long when, TaskState dead) {
    if (cancel || tries == 0) {
      endUnlessCancelled(dead);
    } else {
      go(SCHEDULED, when);
    }
  }

  /** Something may be at large: find out, or let a person look. */
  private void seek(long when) {
    boolean stuck = tries == 0 || is(Contract.OPAQUE) || (cancel && is(Contract.IDEMPOTENT));
    go(UNKNOWN, stuck ? NONE : when);
  }

  private void seekOrTryAgain(long when, TaskState dead) {
    if (uncertain) {
      seek(when);
    } else {
      tryAgain(when, dead);
    }
  }

  // Operators

  String cancel(boolean unstartedOnly) {
    if (ended()) {
      return state == CANCELLED ? "ALREADY_CANCELLED" : "TOO_LATE";
    }
    if (unstartedOnly && started) {
      return "NOT_CANCELLED";
    }
    cancel = true;
    if (uncertain && (state == QUARANTINED || (waits() && !is(Contract.QUERYABLE)))) {
      go(UNKNOWN, NONE);
      tell("parked");
    }
    if (state == CLAIMED || uncertain) {
      return "REQUESTED";
    }
    end(CANCELLED);
    tell("cancelled");
    return started ? "CANCELLED" : "CANCELLED_UNSTARTED";
  }

  Quarantined quarantine() {
    if (waits()) {
      end(QUARANTINED);
      tell("quarantined");
      return Quarantined.QUARANTINED;
    }
    return state == CLAIMED
        ? Quarantined.RUNNING
        : state == QUARANTINED ? Quarantined.ALREADY_QUARANTINED : Quarantined.NOT_WAITING;
  }

  Redriven redrive(int its) {
    if (state != QUARANTINED) {
      return Redriven.NOT_QUARANTINED;
    }
    if (attempt != its) {
      return Redriven.WRONG_ATTEMPT;
    }
    attempt++;
    attempts.add(new Attempt(attempt, "-", "NONE", "REDRIVEN"));
    tries = freshTries();
    tell("redriven");
    if (uncertain) {
      seek(Math.max(model.now, askFrom));
    } else {
      go(SCHEDULED, model.now);
    }
    if (parked()) {
      tell("parked");
    }
    return Redriven.REDRIVEN;
  }

  /** A past time means now. */
  Rescheduled reschedule(int its, long when) {
    if (!waits()) {
      return state == CLAIMED ? Rescheduled.RUNNING : Rescheduled.NOT_WAITING;
    }
    if (attempt != its) {
      return Rescheduled.WRONG_ATTEMPT;
    }
    due = Math.max(Math.max(when, model.now), uncertain ? askFrom : NONE);
    return Rescheduled.RESCHEDULED;
  }

  // Rows

  List<String> lines() {
    long now = model.now;
    List<String> lines = new ArrayList<>();
    lines.add(
        "task %s %s %s%s%s attempt %d, tries %d, due %s for %s by %s until %s sent %s expires %s"
            .formatted(
                label,
                queue,
                state,
                uncertain ? " uncertain" : "",
                cancel ? " cancel" : "",
                attempt,
                tries,
                LedgerModel.ago(due, now),
                action,
                owner,
                LedgerModel.ago(leaseUntil, now),
                LedgerModel.ago(firstSent, now),
                LedgerModel.ago(intent.asked.expires(), now)));
    for (Attempt a : attempts) {
      lines.add(
          "attempt %s %d %s %s %s %s"
              .formatted(label, a.number, a.worker, a.action, a.outcome, a.late));
    }
    if (effectOf > 0) {
      lines.add("effect " + label + " " + effectOf);
    }
    return lines;
  }

  @Override
  public String toString() {
    return label;
  }

  /** How the last attempt ended; null if there was none. */
  @Nullable String lastOutcome() {
    return attempts.isEmpty() ? null : attempts.getLast().outcome;
  }
}
