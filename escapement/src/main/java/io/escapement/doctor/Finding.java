package io.escapement.doctor;

import java.util.Locale;

/**
 * Something that is not as it should be.
 *
 * @param subject what it is about, {@code topic escapement.requests} say
 * @param message what is wrong, and after a semicolon the cure
 */
public record Finding(Severity severity, String subject, String message) {

  /** Whether the parts can work all the same. */
  public enum Severity {
    ERROR,
    WARNING
  }

  static Finding error(String subject, String message) {
    return new Finding(Severity.ERROR, subject, message);
  }

  static Finding warning(String subject, String message) {
    return new Finding(Severity.WARNING, subject, message);
  }

  /** One line for people. */
  public String line() {
    return severity.name().toLowerCase(Locale.ROOT) + "  " + subject + ": " + message;
  }
}
