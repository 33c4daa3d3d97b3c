/** Channels that call HTTP endpoints, set up by a file each. */
@org.jspecify.annotations.NullMarked
package io.escapement.dispatcher.http;
