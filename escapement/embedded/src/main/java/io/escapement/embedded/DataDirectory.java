package io.escapement.embedded;

import io.escapement.embedded.EmbeddedStartException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One process's hold on a data directory, by a lock file that the operating system frees when the
 * process ends, however it ends.
 *
 * <p>Thread rule: open and close from one thread. Failure: {@link EmbeddedStartException} if the
 * directory can't be written or another process holds it.
 */
final class DataDirectory implements AutoCloseable {

  private static final String LOCK_FILE = "escapement.lock";

  private final Path path;
  private final FileChannel channel;

  private DataDirectory(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** Creates the directory if need be and takes hold of it. */
  static DataDirectory hold(Path directory) {
    Path path = directory.toAbsolutePath().normalize();
    FileChannel channel = open(path);
    boolean held = false;
    try {
      if (!tryLock(channel)) {
        throw new EmbeddedStartException(
            Reason.DIRECTORY_IN_USE, path + " is in use by " + holder(path));
      }
      String pid = Long.toString(ProcessHandle.current().pid());
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)), 0);
      channel.force(false);
      held = true;
      return new DataDirectory(path, channel);
    } catch (IOException e) {
      throw EmbeddedStartException.notWritable(path, e);
    } finally {
      if (!held) {
        closeQuietly(channel);
      }
    }
  }

  /** Where it is. */
  Path path() {
    return path;
  }

  /** A directory below it, created if absent. */
  Path sub(String name) {
    try {
      return Files.createDirectories(path.resolve(name));
    } catch (IOException e) {
      throw EmbeddedStartException.notWritable(path.resolve(name), e);
    }
  }

  /** Deletes everything below it, the directory included. Call it while the hold lasts. */
  void delete() throws IOException {
    List<Path> deepestFirst;
    try (Stream<Path> tree = Files.walk(path)) {
      deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path each : deepestFirst) {
      Files.deleteIfExists(each);
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  private static FileChannel open(Path path) {
    try {
      Files.createDirectories(path);
      return FileChannel.open(
          path.resolve(LOCK_FILE),
          StandardOpenOption.CREATE,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw EmbeddedStartException.notWritable(path, e);
    }
  }

  private static boolean tryLock(FileChannel channel) throws IOException {
    try {
      @Nullable FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      // Held by this very process.
      return false;
    }
  }

  private static String holder(Path path) {
    try {
      String pid = Files.readString(path.resolve(LOCK_FILE)).strip();
      return pid.isEmpty() ? "another process" : "process " + pid;
    } catch (IOException e) {
      return "another process";
    }
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // The failure that led here is the one to tell; the descriptor ends with the process.
      org.slf4j.LoggerFactory.getLogger(DataDirectory.class).debug("lock file not closed", e);
    }
  }
}
