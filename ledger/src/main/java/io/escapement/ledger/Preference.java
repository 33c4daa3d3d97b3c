package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/**
 * Whether and where a recipient wants a channel.
 *
 * @param tenant whose user it is: the same subject in two tenants is two people
 * @param subject the user
 * @param channel a defined channel
 * @param address where; null if the channel needs none
 * @param enabled whether it is switched on
 * @param version must be above the stored one to count; null takes the next
 */
public record Preference(
    String tenant,
    String subject,
    String channel,
    @Nullable String address,
    boolean enabled,
    @Nullable Long version) {}
