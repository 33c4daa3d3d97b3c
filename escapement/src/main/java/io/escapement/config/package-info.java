/** Where settings come from: defaults, a file, the environment, flags. */
@NullMarked
package io.escapement.config;

import org.jspecify.annotations.NullMarked;
