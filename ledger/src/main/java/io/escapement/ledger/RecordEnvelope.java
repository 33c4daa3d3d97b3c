package io.escapement.ledger;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Kafka record's key and headers, so that a record that can't be admitted can be passed on
 * unchanged.
 *
 * @param key null if the record had none
 */
public record RecordEnvelope(byte @Nullable [] key, List<Header> headers) {

  /** No key, no headers. */
  public static final RecordEnvelope EMPTY = new RecordEnvelope(null, List.of());

  /** Key and headers beyond this many bytes are not kept. */
  public static final int MAX_BYTES = 256 * 1024;

  /** One header; a header's value may be null. */
  public record Header(String name, byte @Nullable [] value) {}

  public RecordEnvelope {
    headers = List.copyOf(headers);
  }

  /** Packs key and headers; beyond 256 KiB in all, nothing is kept but the fact. */
  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      writeBytes(out, key);
      out.writeInt(headers.size());
      for (Header header : headers) {
        writeBytes(out, header.name().getBytes(java.nio.charset.StandardCharsets.UTF_8));
        writeBytes(out, header.value());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.size() > MAX_BYTES ? EMPTY.encode() : bytes.toByteArray();
  }

  /** The inverse of {@link #encode}. */
  static RecordEnvelope decode(byte[] packed) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(packed))) {
      byte[] key = readBytes(in);
      int count = in.readInt();
      List<Header> headers = new ArrayList<>(Math.min(count, 1_000));
      for (int i = 0; i < count; i++) {
        byte[] name = readBytes(in);
        if (name == null) {
          throw new IllegalArgumentException("a header without a name");
        }
        headers.add(
            new Header(new String(name, java.nio.charset.StandardCharsets.UTF_8), readBytes(in)));
      }
      return new RecordEnvelope(key, headers);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void writeBytes(DataOutputStream out, byte @Nullable [] value) throws IOException {
    if (value == null) {
      out.writeInt(-1);
    } else {
      out.writeInt(value.length);
      out.write(value);
    }
  }

  private static byte @Nullable [] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    return length < 0 ? null : in.readNBytes(length);
  }
}
