package io.escapement.dispatcher.relay;

import io.escapement.ledger.ServerIdentity;
import io.escapement.ledger.SlotState;
import java.util.Optional;

/**
 * Tells a slot that holds everything that is not yet relayed from one that does not.
 *
 * <p>The relay confirms to the slot only what it has committed to Kafka together with the position.
 * So a slot of ours never confirms more than the position says. One that does was created after the
 * position was written (by somebody, or by Debezium, which creates a missing slot at the end of the
 * log without a word) or was moved by hand: what lies between is not in it.
 */
final class SlotCare {

  private SlotCare() {}

  /**
   * Why the stream can't be continued from this slot; empty if it can.
   *
   * @param slot read before the position; the position may have moved on meanwhile
   */
  static Optional<String> lost(Optional<SlotState> slot, RelayPosition position) {
    if (slot.isEmpty()) {
      return Optional.of("it does not exist");
    }
    String unusable = slot.get().unusable();
    if (unusable != null) {
      return Optional.of(unusable);
    }
    if (slot.get().confirmed().compareTo(position.lsn()) > 0) {
      return Optional.of(
          "it starts at "
              + slot.get().confirmed()
              + ", after what is relayed ("
              + position.lsn()
              + ")");
    }
    return Optional.empty();
  }

  /** The same at the start of a term, when the server may be another one. */
  static Optional<String> lost(
      Optional<SlotState> slot, RelayPosition position, ServerIdentity server) {
    if (!position.server().systemId().equals(server.systemId())) {
      return Optional.of("the position was reached on another database server");
    }
    if (position.server().timeline() != server.timeline()) {
      return Optional.of(
          "the server is on timeline "
              + server.timeline()
              + ", the position on "
              + position.server().timeline());
    }
    return lost(slot, position);
  }
}
