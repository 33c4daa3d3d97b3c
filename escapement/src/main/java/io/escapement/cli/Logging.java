package io.escapement.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.FileAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import java.nio.file.Path;
import java.util.logging.LogManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/**
 * What is logged, and where: our own warnings go to standard error; the libraries' are silent, as
 * what matters of theirs comes back as an exception and is told in our words. {@code --verbose}
 * shows our own progress and the libraries' warnings. A command that keeps data may add a file,
 * which gets both in any case.
 */
final class Logging {

  private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{0} - %msg%n";
  private static final String FILE_PATTERN =
      "%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level [%thread] %logger - %msg%n";
  private static final String OURS = "io.escapement";

  private Logging() {}

  /** Sets logging up by the flags, then runs the command. */
  static int setUpAndRun(ParseResult parsed) {
    setUp(isVerbose(parsed.commandSpec().commandLine()));
    return new CommandLine.RunLast().execute(parsed);
  }

  /** Whether {@code --verbose} was given, before or behind the command. */
  static boolean isVerbose(CommandLine command) {
    CommandLine top = command;
    while (top.getParent() != null) {
      top = top.getParent();
    }
    return top.getCommand() instanceof CommandTree.Root root && root.verbose();
  }

  private static void setUp(boolean verbose) {
    LogManager.getLogManager().reset();
    SLF4JBridgeHandler.install();
    LoggerContext context = context();
    context.reset();
    ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
    console.setTarget("System.err");
    console.addFilter(new ForTheConsole(verbose));
    start(console, context, PATTERN);
    setLevels(context, verbose ? Level.WARN : Level.OFF, verbose ? Level.INFO : Level.WARN);
  }

  /** Adds a file that gets our progress and the libraries' warnings. */
  static void alsoTo(Path file) {
    FileAppender<ILoggingEvent> appender = new FileAppender<>();
    appender.setFile(file.toString());
    start(appender, context(), FILE_PATTERN);
    setLevels(context(), Level.WARN, Level.INFO);
  }

  /** From now on, nothing. */
  static void silence() {
    setLevels(context(), Level.OFF, Level.OFF);
  }

  private static void setLevels(LoggerContext context, Level libraries, Level ours) {
    context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(libraries);
    context.getLogger(OURS).setLevel(ours);
  }

  private static void start(
      OutputStreamAppender<ILoggingEvent> appender, LoggerContext context, String pattern) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(pattern);
    encoder.start();
    appender.setContext(context);
    appender.setEncoder(encoder);
    appender.start();
    context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
  }

  private static LoggerContext context() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      return context;
    }
    throw new IllegalStateException("logback is not the logging library");
  }

  /** Lets through what a person should see at once. */
  private static final class ForTheConsole extends Filter<ILoggingEvent> {
    private final boolean verbose;

    ForTheConsole(boolean verbose) {
      this.verbose = verbose;
    }

    @Override
    public FilterReply decide(ILoggingEvent event) {
      boolean ours = event.getLoggerName().startsWith(OURS);
      Level least = verbose ? (ours ? Level.INFO : Level.WARN) : (ours ? Level.WARN : Level.OFF);
      return event.getLevel().isGreaterOrEqual(least) ? FilterReply.NEUTRAL : FilterReply.DENY;
    }
  }
}
