package io.escapement.dispatcher;

import io.escapement.ledger.ObserveAnswer;
import io.escapement.ledger.TaskState;
import java.util.concurrent.atomic.LongAdder;

/** What a dispatcher has done since it started. Thread rule: any thread. */
final class Counters {

  final LongAdder claimed = new LongAdder();
  final LongAdder done = new LongAdder();
  final LongAdder retried = new LongAdder();
  final LongAdder ended = new LongAdder();
  final LongAdder late = new LongAdder();
  final LongAdder notDue = new LongAdder();
  final LongAdder leasesLost = new LongAdder();

  void count(ObserveAnswer answer) {
    switch (answer) {
      case ObserveAnswer.Applied applied -> {
        if (applied.state() == TaskState.DONE) {
          done.increment();
        } else if (applied.dueAt() != null) {
          retried.increment();
        } else {
          ended.increment();
        }
      }
      case ObserveAnswer.Late gone -> late.increment();
      case ObserveAnswer.Repeated settledBefore -> {
        if (settledBefore.outcome().equals("COMPLETED")) {
          done.increment();
        }
      }
      case ObserveAnswer.NoSuchAttempt none -> late.increment();
    }
  }
}
