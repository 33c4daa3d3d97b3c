/** Due work found, claimed, run and completed. */
@NullMarked
package io.escapement.dispatcher;

import org.jspecify.annotations.NullMarked;
