/** The distribution as its users run it: the launcher in processes of its own, real servers. */
@NullMarked
package io.escapement.e2e;

import org.jspecify.annotations.NullMarked;
