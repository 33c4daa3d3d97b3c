package io.escapement.submit;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import io.escapement.assembly.CommandFailure;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a file of requests, one structured CloudEvent a line; empty lines are skipped.
 *
 * <p>Whether a line is a request is ingest's to decide; what is checked here is only that it is a
 * JSON object, because a file that is cut or of another kind is better refused before a part of it
 * is sent. Cost: one pass, one line in memory. Failure: {@link CommandFailure} with file and line.
 */
public final class RequestLines {

  /** Most lines of a file: each is waited for in memory. */
  public static final int MOST_LINES = 1_000_000;

  private static final int MOST_LINE_BYTES = 16 * 1024 * 1024;

  private static final ObjectReader JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).reader();

  private final Path file;

  /** A file; nothing is read yet. */
  public RequestLines(Path file) {
    this.file = file;
  }

  /** One line. */
  public record Line(int number, byte[] value) {

    /**
     * What Kafka partitions by: the identity, so that requests of one identity keep their order.
     */
    byte @Nullable [] key() {
      try {
        JsonNode event = JSON.readTree(value);
        JsonNode source = event.get("source");
        JsonNode id = event.get("id");
        return source != null && id != null && source.isTextual() && id.isTextual()
            ? (source.textValue() + "|" + id.textValue()).getBytes(StandardCharsets.UTF_8)
            : null;
      } catch (IOException e) {
        // Sent as it is, on purpose: it has no identity.
        return null;
      }
    }
  }

  /** What is done with each line. */
  @FunctionalInterface
  public interface Each {
    void accept(Line line);
  }

  /** Refuses a line that is not a JSON object; returns how many lines there are. */
  public int check() {
    int[] count = {0};
    forEach(
        line -> {
          count[0]++;
          String problem = problem(line);
          if (problem != null) {
            throw CommandFailure.wrongUse(
                file
                    + ":"
                    + line.number()
                    + ": "
                    + problem
                    + "; mend the line, or send every line"
                    + " as it is with --raw",
                null);
          }
        });
    return count[0];
  }

  /** Goes through the lines in order. */
  public void forEach(Each each) {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 64 * 1024)) {
      ByteArrayOutputStream line = new ByteArrayOutputStream(1024);
      int number = 1;
      for (int b = in.read(); b >= 0; b = in.read()) {
        if (b == '\n') {
          pass(line, number++, each);
        } else if (b != '\r') {
          line.write(b);
          refuseBeyond(line.size() > MOST_LINE_BYTES, number, "longer than 16 MiB");
        }
        refuseBeyond(number > MOST_LINES, number, "more than 1,000,000 lines; split the file");
      }
      pass(line, number, each);
    } catch (NoSuchFileException e) {
      throw CommandFailure.wrongUse(file + " does not exist; name a file of events", e);
    } catch (AccessDeniedException e) {
      throw CommandFailure.wrongUse(file + " may not be read by this user", e);
    } catch (IOException | UncheckedIOException e) {
      throw CommandFailure.wrongUse(file + " can't be read: " + e.getMessage(), e);
    }
  }

  private static void pass(ByteArrayOutputStream line, int number, Each each) {
    if (line.size() > 0) {
      each.accept(new Line(number, line.toByteArray()));
      line.reset();
    }
  }

  private void refuseBeyond(boolean beyond, int number, String what) {
    if (beyond) {
      throw CommandFailure.wrongUse(file + ":" + number + ": " + what, null);
    }
  }

  private static @Nullable String problem(Line line) {
    try {
      return JSON.readTree(line.value()).isObject() ? null : "not a JSON object";
    } catch (JacksonException e) {
      return "not JSON: " + e.getOriginalMessage();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
