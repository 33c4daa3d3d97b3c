/** A real PostgreSQL and a real Kafka broker, run beside this process: for demo, up and tests. */
@NullMarked
package io.escapement.embedded;

import org.jspecify.annotations.NullMarked;
