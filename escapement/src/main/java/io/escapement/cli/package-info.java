/** The command line. */
@NullMarked
package io.escapement.cli;

import org.jspecify.annotations.NullMarked;
