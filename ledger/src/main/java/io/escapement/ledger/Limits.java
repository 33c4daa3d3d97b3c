package io.escapement.ledger;

import java.time.Duration;

/** Bounds of what identifies and times a request; the schema's checks say the same. */
public final class Limits {

  /** Longest source, subject, in UTF-8 bytes. */
  public static final int NAMESPACE_BYTES = 1024;

  /** Longest event id, in UTF-8 bytes. */
  public static final int ID_BYTES = 512;

  /** Longest subject, in UTF-8 bytes. */
  public static final int SUBJECT_BYTES = 1024;

  /** Longest tenant, in UTF-8 bytes; a tenant may be the end of a topic's name. */
  public static final int TENANT_BYTES = 128;

  /** Longest kind (the event's type), in UTF-8 bytes. */
  public static final int KIND_BYTES = 255;

  /** Longest content type, in UTF-8 bytes. */
  public static final int CONTENT_TYPE_BYTES = 255;

  /** Longest reason or detail that is stored; what is longer is cut, with a mark. */
  public static final int DETAIL_BYTES = 4096;

  /** Longest name of a provider for what it accepted; what is longer is cut, with a mark. */
  public static final int MESSAGE_ID_BYTES = 512;

  /** Longest wait that a provider may ask for. */
  public static final Duration LONGEST_WAIT = Duration.ofDays(7);

  /** How far ahead a request may be due or expire. */
  public static final Duration FURTHEST_DUE = Duration.ofDays(36_500);

  /** Most attempts that a request may ask for. */
  public static final int MAX_ATTEMPTS = 1_000;

  /** Sources that start like this are kept for identities that the ledger makes itself. */
  public static final String RESERVED_NAMESPACE = "escapement:";

  private Limits() {}
}
