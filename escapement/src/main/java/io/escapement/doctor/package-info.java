/** What has to be true of the servers before the parts can work, and what to do if it is not. */
@NullMarked
package io.escapement.doctor;

import org.jspecify.annotations.NullMarked;
