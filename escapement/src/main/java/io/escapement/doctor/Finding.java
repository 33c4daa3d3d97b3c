package io.escapement.doctor;

import java.util.Locale;
import java.util.Set;

/**
 * Something that is not as it should be.
 *
 * @param concerns the parts that it keeps from their work
 * @param subject what it is about, {@code topic escapement.requests} say
 * @param message what is wrong, and after a semicolon the cure
 */
public record Finding(Severity severity, Set<Concern> concerns, String subject, String message) {

  static final Set<Concern> ALL = Set.of(Concern.values());

  /** Whether the parts can work all the same. */
  public enum Severity {
    /** They can't, or would lose something. */
    ERROR,
    /** They can, until something happens that was to be expected. */
    WARNING
  }

  public Finding {
    concerns = Set.copyOf(concerns);
  }

  static Finding error(Set<Concern> concerns, String subject, String message) {
    return new Finding(Severity.ERROR, concerns, subject, message);
  }

  static Finding warning(String subject, String message) {
    return new Finding(Severity.WARNING, ALL, subject, message);
  }

  /** Whether a part must not start. */
  public boolean stops(Concern part) {
    return severity == Severity.ERROR && concerns.contains(part);
  }

  /** One line for people. */
  public String line() {
    return severity.name().toLowerCase(Locale.ROOT) + "  " + subject + ": " + message;
  }
}
