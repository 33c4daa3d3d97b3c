package io.escapement.dispatcher;

import java.util.Map;

/**
 * Limits of one process by kind and by channel; what has none is bounded by the threads alone.
 *
 * <p>A task starts when neither its kind nor its channel is at its limit.
 */
public record LaneLimits(Map<String, LaneLimit> kinds, Map<String, LaneLimit> channels) {

  /** No limits. */
  public static final LaneLimits NONE = new LaneLimits(Map.of(), Map.of());

  public LaneLimits {
    kinds = Map.copyOf(kinds);
    channels = Map.copyOf(channels);
  }

  boolean isNone() {
    return kinds.isEmpty() && channels.isEmpty();
  }
}
