/** The brokers as a person meets them: whether they answer, and which topics they need. */
@NullMarked
package io.escapement.kafka;

import org.jspecify.annotations.NullMarked;
