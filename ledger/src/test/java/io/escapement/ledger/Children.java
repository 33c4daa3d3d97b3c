package io.escapement.ledger;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Processes that do the same thing at the same time. */
final class Children implements AutoCloseable {

  private final List<ChildProcess> processes = new ArrayList<>();
  private @Nullable TestLedger db;
  private @Nullable StartLine line;

  /** Starts so many. */
  static Children start(int processes) {
    Children all = new Children();
    try {
      for (int i = 0; i < processes; i++) {
        all.processes.add(ChildProcess.start());
      }
      all.processes.forEach(ChildProcess::awaitReady);
      return all;
    } catch (Throwable e) {
      all.close();
      throw e;
    }
  }

  ChildProcess get(int index) {
    return processes.get(index);
  }

  /**
   * Does jobs in as many processes, begun together once all are connected under a role.
   *
   * @return their answers, in order
   */
  List<String> atOnce(TestLedger on, Role role, int count, IntFunction<ChildJob> jobs)
      throws SQLException {
    return together(
        on,
        count,
        i -> {
          ChildJob job = jobs.apply(i);
          return session -> startTogether(session, role, job);
        });
  }

  /**
   * Does jobs in as many processes, each of which waits for all others somewhere on its way, at
   * {@link ChildSession#awaitStart}.
   *
   * @return their answers, in order
   */
  List<String> together(TestLedger on, int count, IntFunction<ChildJob> jobs) throws SQLException {
    StartLine drawn = lineIn(on);
    drawn.draw();
    for (int i = 0; i < count; i++) {
      processes.get(i).begin(on, jobs.apply(i));
    }
    drawn.startWhenWaiting(count);
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      answers.add(processes.get(i).answer());
    }
    return answers;
  }

  private StartLine lineIn(TestLedger wanted) throws SQLException {
    StartLine drawn = line;
    if (drawn == null || db != wanted) {
      if (drawn != null) {
        drawn.close();
      }
      drawn = new StartLine(wanted.connection());
      line = drawn;
      db = wanted;
    }
    return drawn;
  }

  private static String startTogether(ChildSession session, Role role, ChildJob job)
      throws Exception {
    session.ledger(role);
    session.awaitStart();
    return job.run(session);
  }

  @Override
  public void close() {
    // The line's connection goes with the server.
    processes.forEach(ChildProcess::close);
  }
}
