package io.escapement.ledger;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.LoggerFactory;

/** Counts how often a migrator says that it gives way to running work. */
final class GivesWay extends AppenderBase<ILoggingEvent> implements AutoCloseable {

  private static final Logger MIGRATOR = (Logger) LoggerFactory.getLogger(Migrator.class);

  private final AtomicInteger times = new AtomicInteger();

  GivesWay() {
    setContext(MIGRATOR.getLoggerContext());
    start();
    MIGRATOR.addAppender(this);
  }

  int times() {
    return times.get();
  }

  @Override
  protected void append(ILoggingEvent event) {
    if (event.getFormattedMessage().contains("gives way")) {
      times.incrementAndGet();
    }
  }

  @Override
  public void close() {
    MIGRATOR.detachAppender(this);
    stop();
  }
}
