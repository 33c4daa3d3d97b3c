/** Measures what Escapement does, in figures that can be compared from version to version. */
@NullMarked
package io.escapement.bench;

import org.jspecify.annotations.NullMarked;
