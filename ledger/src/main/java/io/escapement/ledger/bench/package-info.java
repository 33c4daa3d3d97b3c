/**
 * What benchmarks do to a ledger of their own behind the protocol's back: databases to throw away,
 * rows without a protocol to compare with, a history to work beside. Nothing else uses it.
 */
@NullMarked
package io.escapement.ledger.bench;

import org.jspecify.annotations.NullMarked;
