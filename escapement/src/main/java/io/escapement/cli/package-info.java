/** The command line: what a person types, and what they are told. */
@NullMarked
package io.escapement.cli;

import org.jspecify.annotations.NullMarked;
