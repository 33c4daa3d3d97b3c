package io.escapement.assembly;

import io.escapement.config.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells others on this machine that a part runs: a file with one line, {@code running SECONDS}, the
 * time in seconds since 1970, which is written again every {@value #EVERY_SECONDS} seconds; then
 * {@code stopping SECONDS}, once, until it has stopped. Who finds an older time, or no file, knows
 * that the process has ended, stands still or has not started yet. That its servers answer, it does
 * not say: a part that runs waits for them.
 *
 * <p>Thread rule: one thread.
 */
public final class HealthFile implements AutoCloseable {

  /** How often it is written. */
  public static final int EVERY_SECONDS = 5;

  private static final Logger LOG = LoggerFactory.getLogger(HealthFile.class);
  private static final long EVERY_NANOS = Duration.ofSeconds(EVERY_SECONDS).toNanos();

  private final @Nullable Path file;
  private long writtenAt = System.nanoTime() - EVERY_NANOS;

  private HealthFile(@Nullable Path file) {
    this.file = file;
  }

  /**
   * Begins: removes what a killed process has left, which is no sign of life of this one.
   *
   * @param file where it is to be; empty for none
   * @throws CommandFailure if it can't be written
   */
  public static HealthFile open(String file) {
    if (file.isEmpty()) {
      return new HealthFile(null);
    }
    Path path = Path.of(file).toAbsolutePath();
    try {
      Files.writeString(path, "");
      Files.delete(path);
      return new HealthFile(path);
    } catch (IOException e) {
      throw new CommandFailure(
          Key.HEALTH_FILE.key()
              + ": "
              + file
              + " can't be written; name a file in a directory that this user may write",
          e);
    }
  }

  /** The part runs: writes so, if it is time to. */
  public void beat() {
    if (System.nanoTime() - writtenAt >= EVERY_NANOS) {
      writtenAt = System.nanoTime();
      write("running");
    }
  }

  /** The part ends what it has in hand. */
  public void stopping() {
    write("stopping");
  }

  /** In one step: who reads it never finds half a line. A disk that is full stops no part. */
  private void write(String word) {
    if (file == null) {
      return;
    }
    Path next = file.resolveSibling(file.getFileName() + ".next");
    try {
      Files.writeString(next, word + " " + Instant.now().getEpochSecond() + "\n");
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      LOG.warn("{} can't be written: {}", file, e.toString());
    }
  }

  /** Removes it. */
  @Override
  public void close() {
    if (file == null) {
      return;
    }
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.warn("{} can't be removed: {}", file, e.toString());
    }
  }
}
