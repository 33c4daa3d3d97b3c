package io.escapement.ledger;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * How a ledger's schema stands to the migrations of this program.
 *
 * @param pending migrations of this program that the schema lacks, or has otherwise
 * @param unknown migrations of the schema that this program does not have: it is older
 */
public record SchemaState(List<String> pending, List<String> unknown) {

  private static final String MIGRATIONS = "migration";

  /** Compares what was applied, by script and checksum, with what this program brings. */
  static SchemaState of(Map<String, Integer> applied) {
    Map<String, Integer> packaged = packaged();
    TreeSet<String> pending = new TreeSet<>();
    packaged.forEach(
        (script, checksum) -> {
          if (!checksum.equals(applied.get(script))) {
            pending.add(script);
          }
        });
    TreeSet<String> unknown = new TreeSet<>(applied.keySet());
    unknown.removeAll(packaged.keySet());
    return new SchemaState(List.copyOf(pending), List.copyOf(unknown));
  }

  private static Map<String, Integer> packaged() {
    try {
      URL place = Objects.requireNonNull(SchemaState.class.getResource(MIGRATIONS));
      if (place.openConnection() instanceof JarURLConnection jar) {
        Path file = Path.of(jar.getJarFileURL().toURI());
        try (FileSystem opened = FileSystems.newFileSystem(file)) {
          return checksums(opened.getPath(jar.getEntryName()));
        }
      }
      return checksums(Path.of(place.toURI()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, Integer> checksums(Path folder) throws IOException {
    Map<String, Integer> checksums = new HashMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        String script = String.valueOf(file.getFileName());
        if (script.endsWith(".sql")) {
          checksums.put(script, checksum(script));
        }
      }
    }
    return checksums;
  }

  /** As Flyway computes it: the CRC-32 of the lines without their ends. */
  private static int checksum(String script) throws IOException {
    CRC32 crc = new CRC32();
    try (InputStream bytes = SchemaState.class.getResourceAsStream(MIGRATIONS + "/" + script);
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(Objects.requireNonNull(bytes), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        crc.update(line.getBytes(StandardCharsets.UTF_8));
      }
    }
    return (int) crc.getValue();
  }
}
