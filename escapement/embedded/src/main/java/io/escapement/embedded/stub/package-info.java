/**
 * A stub of a provider behind HTTP that does what a script says: for tests, the demo, and whoever
 * tries a channel's definition. It needs the JDK and Jackson, no Kafka and no PostgreSQL.
 */
@NullMarked
package io.escapement.embedded.stub;

import org.jspecify.annotations.NullMarked;
