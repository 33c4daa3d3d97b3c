package io.escapement.ledger;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Builds requests for tests. */
public final class Requests {

  private String namespace = "/test";
  private String id = "1";
  private String tenant = "acme";
  private String kind = "work";
  private @Nullable String subject;
  private Instant issuedAt = Instant.now();
  private @Nullable Instant dueAt;
  private @Nullable Instant expiresAt;
  private @Nullable Integer maxAttempts;
  private String value = "{}";
  private long offset;

  private Requests() {}

  /** A request of the kind {@code work} for the tenant {@code acme}, due now. */
  public static Requests request(String id) {
    Requests builder = new Requests();
    builder.id = id;
    return builder;
  }

  public Requests namespace(String other) {
    namespace = other;
    return this;
  }

  public Requests tenant(String other) {
    tenant = other;
    return this;
  }

  public Requests kind(String other) {
    kind = other;
    return this;
  }

  public Requests subject(@Nullable String other) {
    subject = other;
    return this;
  }

  public Requests issuedAt(Instant other) {
    issuedAt = other;
    return this;
  }

  public Requests dueAt(@Nullable Instant other) {
    dueAt = other;
    return this;
  }

  public Requests expiresAt(@Nullable Instant other) {
    expiresAt = other;
    return this;
  }

  public Requests maxAttempts(@Nullable Integer other) {
    maxAttempts = other;
    return this;
  }

  public Requests value(String other) {
    value = other;
    return this;
  }

  public Requests offset(long other) {
    offset = other;
    return this;
  }

  /** On the batch's first partition. */
  public Submission.Request build() {
    return new Submission.Request(
        0,
        offset,
        namespace,
        id,
        tenant,
        kind,
        subject,
        issuedAt,
        dueAt,
        expiresAt,
        maxAttempts,
        "application/json",
        value.getBytes(StandardCharsets.UTF_8),
        RecordEnvelope.EMPTY);
  }
}
