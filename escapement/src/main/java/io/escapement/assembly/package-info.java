/** Where the parts are built from the settings and put together; nothing else builds a part. */
@NullMarked
package io.escapement.assembly;

import org.jspecify.annotations.NullMarked;
