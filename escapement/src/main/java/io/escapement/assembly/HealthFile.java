package io.escapement.assembly;

import io.escapement.config.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells others on this machine that a part runs: a file with one line, {@code running SECONDS}, the
 * time in seconds since 1970, which is written again every {@value #EVERY_SECONDS} seconds. Who
 * finds an older time, or no file, knows that the process has ended, stands still or has not
 * started yet. That its servers answer, it does not say: a part waits for them.
 *
 * <p>Thread rule: one thread.
 */
public final class HealthFile implements AutoCloseable {

  /** How often it is written. */
  public static final int EVERY_SECONDS = 5;

  private static final Logger LOG = LoggerFactory.getLogger(HealthFile.class);
  private static final long EVERY_NANOS = Duration.ofSeconds(EVERY_SECONDS).toNanos();

  private final Path file;
  private long writtenAt;

  private HealthFile(Path file) {
    this.file = file;
  }

  /**
   * Writes it for the first time.
   *
   * @throws CommandFailure if it can't be written
   */
  public static HealthFile open(Path file) {
    HealthFile health = new HealthFile(file.toAbsolutePath());
    try {
      health.write();
      return health;
    } catch (IOException e) {
      throw new CommandFailure(
          Key.HEALTH_FILE.key()
              + ": "
              + file
              + " can't be written; name a file in a directory that this user may write",
          e);
    }
  }

  /** Writes it again, if it is time to. A disk that is full for a while stops no part. */
  public void beat() {
    if (System.nanoTime() - writtenAt >= EVERY_NANOS) {
      try {
        write();
      } catch (IOException e) {
        LOG.warn("{} can't be written: {}", file, e.toString());
      }
    }
  }

  /** In one step: who reads it never finds half a line. */
  private void write() throws IOException {
    writtenAt = System.nanoTime();
    Path next = file.resolveSibling(file.getFileName() + ".next");
    Files.writeString(next, "running " + Instant.now().getEpochSecond() + "\n");
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Removes it. */
  @Override
  public void close() {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.warn("{} can't be removed: {}", file, e.toString());
    }
  }
}
