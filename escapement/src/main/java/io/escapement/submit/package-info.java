/** A producer for people: sends a file's events and tells what was decided about each. */
@NullMarked
package io.escapement.submit;

import org.jspecify.annotations.NullMarked;
