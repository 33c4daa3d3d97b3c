package io.escapement.dispatcher;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One call to a system outside, or one question about earlier ones.
 *
 * @param task what it is for; {@link Task#idempotencyKey} is the same for every call of the task
 * @param address where the recipient wants it, from the preference; null unless the kind goes by
 *     preference
 * @param uncertain whether an earlier call may have been accepted
 * @param timeout how long it may take
 */
public record Call(Task task, @Nullable String address, boolean uncertain, Duration timeout) {}
