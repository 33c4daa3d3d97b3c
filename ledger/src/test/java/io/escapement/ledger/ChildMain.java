package io.escapement.ledger;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * A process of its own that does one job after another: one request a line in, one answer a line
 * out. It ends when its input does, so it doesn't outlive the test's JVM.
 */
final class ChildMain {

  /** The words that lines to the test begin with. */
  enum Word {
    /** It is there. */
    READY,
    /** The job stands still at a named place and waits for a line. */
    PAUSED,
    /** The job's answer. */
    ANSWER,
    /** The job threw. */
    FAILED
  }

  private ChildMain() {}

  public static void main(String[] arguments) throws IOException {
    PrintStream answers = System.out;
    // Whatever logs to the standard output would stand between the answers.
    System.setOut(System.err);
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (ChildSession session = new ChildSession(arguments[0], requests, answers)) {
      say(answers, Word.READY, arguments[0]);
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        answer(session, answers, line);
      }
    }
  }

  static void say(PrintStream to, Word word, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    to.println(word + " " + Base64.getEncoder().encodeToString(bytes));
    to.flush();
  }

  private static void answer(ChildSession session, PrintStream answers, String line) {
    try {
      ChildRequest request = ChildRequest.decode(line);
      session.use(request.url());
      say(answers, Word.ANSWER, request.job().run(session));
    } catch (Throwable e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      say(answers, Word.FAILED, trace.toString());
    }
  }
}
