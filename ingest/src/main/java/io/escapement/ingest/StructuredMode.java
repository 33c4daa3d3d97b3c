package io.escapement.ingest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import java.io.IOException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Attributes from a JSON event in a record's value: CloudEvents' structured mode.
 *
 * <p>Only the top level is read, token by token; {@code data} is skipped where it lies, because
 * nobody here needs it and a stranger's data must be able to do no more harm than to be long. The
 * SDK's format builds the whole tree (a number of a million digits included), takes the last of two
 * equal keys, and can't say which attribute was wrong.
 *
 * <p>Cost: one pass, memory of twice the value. Thread rule: stateless. Failure: what is wrong is
 * noted in the attributes.
 */
final class StructuredMode {

  /** The content type that stands for JSON events. */
  static final String CONTENT_TYPE = "application/cloudevents+json";

  /** Readers of the same event would give up where it is nested deeper. */
  private static final int MAX_DEPTH = 1_000;

  /** No number is ever converted, and no name looked up in a table that strangers can fill. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private static final String VALUE = "value";
  private static final String DATA = "data";
  private static final String DATA_BASE64 = "data_base64";

  private StructuredMode() {}

  /** What an event says besides its attributes. */
  sealed interface Data {
    /** The text of the member, as it stood there. */
    record Json(String text) implements Data {}

    /** Bytes that JSON can't hold. */
    record Binary(String base64) implements Data {}

    /** No data, or null. */
    record None() implements Data {}
  }

  /** The data of an event that {@link #read} found nothing wrong with. */
  static Data data(byte[] value) {
    String text = String.valueOf(WireText.decode(value));
    try (JsonParser parser = JSON.createParser(text)) {
      parser.nextToken();
      for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
        JsonToken token = parser.nextToken();
        if (token != JsonToken.VALUE_NULL && name.equals(DATA)) {
          int start = (int) parser.currentTokenLocation().getCharOffset();
          parser.skipChildren();
          parser.finishToken();
          return new Data.Json(
              text.substring(start, (int) parser.currentLocation().getCharOffset()));
        }
        if (token != JsonToken.VALUE_NULL && name.equals(DATA_BASE64)) {
          return new Data.Binary(parser.getText());
        }
        parser.skipChildren();
      }
      return new Data.None();
    } catch (IOException e) {
      throw new IllegalArgumentException("read before and now unreadable", e);
    }
  }

  /** Reads all attributes of the event in a record's value. */
  static void read(byte[] value, RawAttributes into) {
    String text = WireText.decode(value);
    if (text == null) {
      into.fail(VALUE, "not UTF-8");
      return;
    }
    try (JsonParser parser = JSON.createParser(text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        into.fail(VALUE, "not a JSON object");
        return;
      }
      members(parser, into);
      if (parser.nextToken() != null) {
        into.fail(VALUE, "something follows the JSON object");
      }
    } catch (StreamConstraintsException e) {
      into.fail(VALUE, "JSON nested deeper than " + MAX_DEPTH + " levels");
    } catch (IOException e) {
      into.fail(VALUE, "not well-formed JSON: " + WireText.shorten(firstLine(e.getMessage())));
    }
  }

  private static void members(JsonParser parser, RawAttributes into) throws IOException {
    boolean data = false;
    boolean binary = false;
    for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
      JsonToken token = parser.nextToken();
      if (name.equals(DATA)) {
        data = once(data, name, into);
        parser.skipChildren();
      } else if (name.equals(DATA_BASE64)) {
        binary = once(binary, name, into);
        base64(token, parser, into);
      } else {
        attribute(name, token, parser, into);
      }
    }
    if (data && binary) {
      into.fail(DATA_BASE64, "given beside 'data'");
    }
  }

  private static boolean once(boolean seen, String name, RawAttributes into) {
    if (seen) {
      into.fail(name, "given more than once");
    }
    return true;
  }

  private static void base64(JsonToken token, JsonParser parser, RawAttributes into)
      throws IOException {
    if (token == JsonToken.VALUE_NULL) {
      return;
    }
    if (token != JsonToken.VALUE_STRING) {
      parser.skipChildren();
      into.fail(DATA_BASE64, "not a string");
      return;
    }
    String text = parser.getText();
    try {
      // Looked at here because nobody could deliver it later.
      Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      into.fail(DATA_BASE64, "not Base64");
    }
  }

  private static void attribute(String name, JsonToken token, JsonParser parser, RawAttributes into)
      throws IOException {
    switch (token) {
      case VALUE_STRING -> into.put(name, parser.getText());
      // CloudEvents in JSON: a null attribute is an absent one.
      case VALUE_NULL -> into.absent(name);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT, VALUE_TRUE, VALUE_FALSE -> {
        if (RawAttributes.CORE.contains(name)) {
          into.fail(name, "not a string");
        } else {
          into.put(name, parser.getText());
        }
      }
      default -> {
        parser.skipChildren();
        if (RawAttributes.CORE.contains(name) || RawAttributes.EXTENSIONS.contains(name)) {
          into.fail(name, "neither a string nor a number");
        }
      }
    }
  }

  private static @Nullable String firstLine(@Nullable String message) {
    return message == null ? null : message.lines().findFirst().orElse(null);
  }
}
