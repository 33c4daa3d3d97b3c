/** The protocol's only door: schema, functions, and a typed face on them. */
@NullMarked
package io.escapement.ledger;

import org.jspecify.annotations.NullMarked;
