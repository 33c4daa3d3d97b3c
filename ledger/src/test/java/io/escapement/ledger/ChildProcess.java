package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A JVM of its own that does jobs, and can be stopped where it is, and killed.
 *
 * <p>Cost: about half a second to start. Thread rule: one thread. Failure: a job that throws there
 * throws here, with its trace; an answer that doesn't come within {@link #PATIENCE} is a failure.
 */
final class ChildProcess implements AutoCloseable {

  /** How long anything that must happen may take on a machine that is busy with other things. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final AtomicInteger NEXT = new AtomicInteger();
  private static final String END = "";

  private final String name;
  private final Process process;
  private final Writer requests;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  private ChildProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    this.requests = process.outputWriter(StandardCharsets.UTF_8);
    Thread.ofPlatform().daemon().name(name).start(this::read);
    // One that is stopped where it is can't notice that its input has ended.
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
  }

  /** Starts one; it is ready once it has answered. */
  static ChildProcess start() {
    String name = "child-" + NEXT.incrementAndGet();
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Duser.timezone=" + System.getProperty("user.timezone"),
            // Nothing is logged: what goes wrong comes back as an answer, and logging takes its
            // start.
            "-Dslf4j.provider=org.slf4j.helpers.NOP_FallbackServiceProvider",
            "-Dslf4j.internal.verbosity=WARN",
            "-cp",
            System.getProperty("java.class.path"),
            ChildMain.class.getName(),
            name);
    try {
      return new ChildProcess(
          name, new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the server shows as its sessions' application. */
  String name() {
    return name;
  }

  void awaitReady() {
    assertThat(next(ChildMain.Word.READY)).isEqualTo(name);
  }

  /** Does a job and answers with what it says. */
  String call(TestLedger db, ChildJob job) {
    begin(db, job);
    return answer();
  }

  /** Sends a job; {@link #answer} or {@link #awaitPause} comes next. */
  void begin(TestLedger db, ChildJob job) {
    try {
      send(new ChildRequest(db.config().url(), job).encode());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the job that was begun says in the end. */
  String answer() {
    return next(ChildMain.Word.ANSWER);
  }

  /** What the job that was begun fails with in the end. */
  String failure() {
    return next(ChildMain.Word.FAILED);
  }

  /** Waits until the job has been answered or one of its statements waits for a lock. */
  void awaitAnswerOrLock(TestLedger db) {
    awaitTrue(() -> !lines.isEmpty() || sessions(db, "wait_event_type = 'Lock'") > 0);
  }

  /** Waits until one of the job's statements waits for a lock. */
  void awaitLock(TestLedger db) {
    awaitTrue(() -> sessions(db, "wait_event_type = 'Lock'") > 0);
  }

  /** Waits until the job stands still at a place. */
  void awaitPause(String place) {
    assertThat(next(ChildMain.Word.PAUSED)).isEqualTo(place);
  }

  /** Lets a job that stands still go on. */
  void goOn() {
    send("go");
  }

  /** Does a job that ends the process, and waits until the server has noticed. */
  void leave(TestLedger db, ChildJob job) {
    begin(db, job);
    awaitHalt(db);
  }

  /** Waits until the job has ended the process, and the server has noticed. */
  void awaitHalt(TestLedger db) {
    assertThat(line()).as("what %s says instead of leaving", name).isEqualTo(END);
    awaitExit();
    assertThat(process.exitValue()).isEqualTo(ChildSession.HALTED);
    awaitNoSession(db);
  }

  /** Waits until the server has no session of it. */
  void awaitNoSession(TestLedger db) {
    awaitTrue(() -> sessions(db, "true") == 0);
  }

  /** Waits until none of its sessions is in a transaction that stands still. */
  void awaitNoOpenTransaction(TestLedger db) {
    awaitTrue(() -> sessions(db, "state like 'idle in transaction%'") == 0);
  }

  private long sessions(TestLedger db, String condition) {
    return db.number(
        "select count(*) from pg_stat_activity where application_name = '"
            + name
            + "' and "
            + condition);
  }

  private static void awaitTrue(Callable<Boolean> condition) {
    await()
        .pollInterval(Duration.ofMillis(2))
        .pollDelay(Duration.ZERO)
        .atMost(PATIENCE)
        .until(condition);
  }

  /** Stops the process where it is. */
  void freeze() {
    signal("-STOP");
  }

  /** Lets it go on as if nothing had happened. */
  void thaw() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      Process kill = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start();
      assertThat(kill.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(kill.exitValue()).isZero();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String next(ChildMain.Word expected) {
    String line = line();
    int space = line.indexOf(' ');
    assertThat(space).as("%s has ended", name).isPositive();
    String text =
        new String(Base64.getDecoder().decode(line.substring(space + 1)), StandardCharsets.UTF_8);
    assertThat(line.substring(0, space)).as(text).isEqualTo(expected.name());
    return text;
  }

  private String line() {
    try {
      String line = lines.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (line == null) {
        throw new AssertionError(name + " says nothing");
      }
      return line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void send(String line) {
    try {
      requests.write(line + "\n");
      requests.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }

  private void read() {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      // The process is gone, and this is its end too.
    }
    lines.add(END);
  }

  private void awaitExit() {
    try {
      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as(name).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends it whatever it is doing, stopped or not. */
  @Override
  public void close() {
    process.destroyForcibly();
    awaitExit();
  }
}
