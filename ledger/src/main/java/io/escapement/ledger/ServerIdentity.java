package io.escapement.ledger;

/**
 * Which history of which server: WAL positions can be compared only within one.
 *
 * @param systemId the cluster, since initdb
 * @param timeline grows with every promotion and recovery
 */
public record ServerIdentity(String systemId, int timeline) {}
