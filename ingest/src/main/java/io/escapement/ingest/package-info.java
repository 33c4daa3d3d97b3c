/** Admission: one decision for every record on a requests topic. */
@NullMarked
package io.escapement.ingest;

import org.jspecify.annotations.NullMarked;
