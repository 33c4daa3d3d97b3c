package io.escapement.dispatcher;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Which loops are in trouble, and with what. Thread rule: any thread. */
final class Health {

  private final Map<String, String> troubles = new ConcurrentHashMap<>();

  void ok(String loop) {
    if (!troubles.isEmpty()) {
      troubles.remove(loop);
    }
  }

  void failed(String loop, Throwable why) {
    troubles.put(loop, String.valueOf(why.getMessage()));
  }

  /** The loops whose last turn failed, with the failure; empty is healthy. */
  Map<String, String> troubles() {
    return new TreeMap<>(troubles);
  }
}
