package io.escapement.ledger;

/**
 * A role of the schema: what a program may call. Each service takes its role on every connection,
 * so even one that logs in as the schema's owner can't write a table.
 */
public enum Role {
  INGEST("escapement_ingest"),
  RELAY("escapement_relay"),
  DISPATCHER("escapement_dispatcher"),
  OPERATOR("escapement_operator"),
  READER("escapement_reader");

  private final String sqlName;

  Role(String sqlName) {
    this.sqlName = sqlName;
  }

  /** The role's name in PostgreSQL. */
  public String sqlName() {
    return sqlName;
  }
}
