/**
 * A hierarchical timing wheel, and a queue through which other threads reach it. Depends on nothing
 * but the JDK.
 *
 * <p>Start at {@link io.escapement.wheel.TimerWheel}.
 */
@NullMarked
package io.escapement.wheel;

import org.jspecify.annotations.NullMarked;
