package io.escapement.ingest;

import io.cloudevents.CloudEvent;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.rw.CloudEventRWException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A record's CloudEvents attributes as they stood on the wire, before anybody judged them.
 *
 * <p>The first thing that was wrong is kept rather than thrown, so that what could be read is still
 * there for the receipt of the refusal. Thread rule: one record, one thread.
 */
final class RawAttributes {

  static final String SPEC_VERSION = "specversion";

  /** The attributes that CloudEvents define: strings in every format. */
  static final Set<String> CORE =
      Set.of(
          SPEC_VERSION, "id", "source", "type", "datacontenttype", "dataschema", "subject", "time");

  /** The extensions that mean something here. */
  static final Set<String> EXTENSIONS =
      Set.of("tenant", "dueat", "delayms", "expiresat", "ttlms", "maxattempts");

  /** In the order in which their absence is told. */
  private static final List<String> REQUIRED = List.of(SPEC_VERSION, "id", "source", "type");

  private final Map<String, String> values = new LinkedHashMap<>();
  private final Set<String> seen = new HashSet<>();
  private @Nullable InvalidAttribute problem;

  /** Keeps an attribute; a further one of the same name is a problem, and then none is kept. */
  void put(String name, String value) {
    if (seen.add(name)) {
      values.put(name, value);
    } else {
      fail(name, "given more than once");
    }
  }

  /** Notes a problem with an attribute, which is then not kept. */
  void fail(String name, String what) {
    seen.add(name);
    values.remove(name);
    if (problem == null) {
      problem = new InvalidAttribute(name, what);
    }
  }

  /** Notes that an attribute was named without a value: it can't be given again. */
  void absent(String name) {
    if (!seen.add(name)) {
      fail(name, "given more than once");
    }
  }

  /** These attributes, if nothing was wrong. */
  RawAttributes checked() throws InvalidAttribute {
    if (problem != null) {
      throw problem;
    }
    return this;
  }

  @Nullable String get(String name) {
    return values.get(name);
  }

  /** A text attribute if it is there and sound, for the receipt of a refusal. */
  @Nullable String getIfSound(String name, int maxBytes) {
    String value = values.get(name);
    return value == null || WireText.problem(value, maxBytes) != null ? null : value;
  }

  /** A text attribute, sound and within bounds; null if it is absent. */
  @Nullable String text(String name, int maxBytes) throws InvalidAttribute {
    String value = values.get(name);
    if (value != null) {
      String what = WireText.problem(value, maxBytes);
      if (what != null) {
        throw new InvalidAttribute(name, what);
      }
    }
    return value;
  }

  /** The same for an attribute that must be there. */
  String requiredText(String name, int maxBytes) throws InvalidAttribute {
    String value = text(name, maxBytes);
    if (value == null) {
      throw new InvalidAttribute(name, "missing");
    }
    return value;
  }

  /**
   * Has the CloudEvents SDK judge the attributes one by one, so that the attribute at fault is
   * known.
   */
  CloudEvent toEvent() throws InvalidAttribute {
    checked();
    for (String name : REQUIRED) {
      if (!values.containsKey(name)) {
        throw new InvalidAttribute(name, "missing");
      }
    }
    String version = values.get(SPEC_VERSION);
    if (!"1.0".equals(version)) {
      throw new InvalidAttribute(SPEC_VERSION, WireText.quote(version) + " is not '1.0'");
    }
    CloudEventBuilder builder = CloudEventBuilder.v1();
    for (Map.Entry<String, String> attribute : values.entrySet()) {
      if (!attribute.getKey().equals(SPEC_VERSION)) {
        set(builder, attribute.getKey(), attribute.getValue());
      }
    }
    return builder.build();
  }

  private static void set(CloudEventBuilder builder, String name, String value)
      throws InvalidAttribute {
    if (name.isEmpty()) {
      throw new InvalidAttribute("ce_", "an attribute without a name");
    }
    try {
      builder.withContextAttribute(name, value);
    } catch (CloudEventRWException e) {
      throw new InvalidAttribute(
          name,
          switch (e.getKind()) {
            case INVALID_ATTRIBUTE_NAME, INVALID_EXTENSION_NAME ->
                "not a CloudEvents attribute name (lower-case letters and digits)";
            case INVALID_ATTRIBUTE_VALUE -> WireText.quote(value) + " is not a valid value";
            default -> WireText.shorten(e.getMessage());
          });
    }
  }
}
