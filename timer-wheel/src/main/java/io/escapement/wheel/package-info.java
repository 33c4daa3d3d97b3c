/** A hierarchical timing wheel. */
@NullMarked
package io.escapement.wheel;

import org.jspecify.annotations.NullMarked;
