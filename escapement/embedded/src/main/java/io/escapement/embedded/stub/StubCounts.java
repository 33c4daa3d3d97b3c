package io.escapement.embedded.stub;

import org.jspecify.annotations.Nullable;

/**
 * What became of one reference.
 *
 * @param calls sends that arrived, whatever was done with them
 * @param queries questions that arrived
 * @param delivered new messages that were accepted: the effect on the outside
 * @param replayed accepting steps that met a remembered key and delivered nothing
 * @param bodySha256 of the first call's body, in hexadecimal; null before a call
 */
public record StubCounts(
    int calls, int queries, int delivered, int replayed, @Nullable String bodySha256) {}
