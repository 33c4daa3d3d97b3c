package io.escapement.ledger;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What has to be true of the server and the ledger before the parts can work, as one session sees
 * it.
 *
 * @param serverVersion as {@code server_version_num}
 * @param maxSlotWalKeepMegabytes -1: a slot that nobody reads may fill the disk
 * @param durable whether the server flushes what it says is committed
 * @param shortestGuardMillis the shorter of the session's timeouts that end a client which stopped
 *     in the middle; 0: there is none
 * @param defaultTenantTasks null: unknown tenants are not admitted
 * @param tenantsAbove tenants whose limits are above the whole ledger's
 * @param clock the database's, read now
 */
public record Preconditions(
    int serverVersion,
    String walLevel,
    long maxSlotWalKeepMegabytes,
    long maxReplicationSlots,
    long replicationSlots,
    int maxConnections,
    String synchronousCommit,
    boolean durable,
    String encoding,
    long shortestGuardMillis,
    int maxPayloadBytes,
    @Nullable Long defaultTenantTasks,
    @Nullable Long defaultTenantBytes,
    long maxTenants,
    long maxTasks,
    long maxBytes,
    long tenants,
    long tenantsAbove,
    Instant clock) {}
