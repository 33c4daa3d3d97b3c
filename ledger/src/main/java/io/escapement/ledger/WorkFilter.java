package io.escapement.ledger;

import java.util.Collection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a worker can do. A channel that is named is one that it can call, whatever the kind; the
 * kinds count on transactional channels, and where no channels are named.
 *
 * @param kinds those that it has handlers for; null means any
 * @param channels those that it can work for; null means any
 */
public record WorkFilter(@Nullable Set<String> kinds, @Nullable Set<String> channels) {

  /** Everything. */
  public static final WorkFilter ANY = new WorkFilter(null, null);

  /** These kinds, on any channel. */
  public static WorkFilter ofKinds(Collection<String> kinds) {
    return new WorkFilter(Set.copyOf(kinds), null);
  }
}
