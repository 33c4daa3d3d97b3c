/** Tests of the outbox relay. */
@NullMarked
package io.escapement.dispatcher.relay;

import org.jspecify.annotations.NullMarked;
