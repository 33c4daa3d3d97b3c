/** A small world to try Escapement with: three kinds, four tenants, tiny budgets. */
@NullMarked
package io.escapement.demo;

import org.jspecify.annotations.NullMarked;
