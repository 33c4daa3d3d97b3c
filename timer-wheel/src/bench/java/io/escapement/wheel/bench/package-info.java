/** The wheel measured against what else there is on the JVM. Not shipped. */
@NullMarked
package io.escapement.wheel.bench;

import org.jspecify.annotations.NullMarked;
