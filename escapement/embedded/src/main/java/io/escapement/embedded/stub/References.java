package io.escapement.embedded.stub;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/**
 * All references, at most a given number of them.
 *
 * <p>Cost: some 250 bytes each. Thread rule: any thread. Failure: {@link RequestException} with 507
 * for one too many.
 */
final class References {

  /** The longest reference, in characters: what is kept per reference is bounded. */
  static final int MAX_LENGTH = 512;

  private final int limit;
  private volatile Held held = new Held();
  private volatile Script defaultScript = Script.EMPTY;

  References(int limit) {
    this.limit = limit;
  }

  /** Refuses what can't be a reference. */
  static String checked(String reference) {
    if (reference.isEmpty() || reference.length() > MAX_LENGTH) {
      throw new RequestException(
          400,
          "a reference has 1 to " + MAX_LENGTH + " characters, this one " + reference.length());
    }
    return reference;
  }

  /** The reference of this name; one that is new gets a copy of the default script. */
  Reference of(String name) {
    return of(held, name, defaultScript);
  }

  /** The counts of a reference, also of one that was never seen. */
  StubCounts counts(String name) {
    Reference known = held.map.get(name);
    return known == null ? new StubCounts(0, 0, 0, 0, null) : known.counts();
  }

  /**
   * Gives references their scripts. Beyond the limit, those before the one too many have theirs.
   */
  void script(Map<String, Script> scripts) {
    Held now = held;
    scripts.forEach((name, script) -> of(now, name, script).restart(script));
  }

  /** What references get that are seen for the first time from now on. */
  void defaultScript(Script script) {
    defaultScript = script;
  }

  /** Forgets every key. */
  void forget() {
    held.map.values().forEach(Reference::forget);
  }

  /** Forgets everything. */
  void reset() {
    defaultScript = Script.EMPTY;
    held = new Held();
  }

  /** Visits every reference's counts; each is consistent, all of them together need not be. */
  void forEach(BiConsumer<String, StubCounts> visitor) {
    held.map.forEach((name, reference) -> visitor.accept(name, reference.counts()));
  }

  private Reference of(Held in, String name, Script script) {
    Reference known = in.map.get(name);
    if (known != null) {
      return known;
    }
    if (in.size.incrementAndGet() > limit) {
      in.size.decrementAndGet();
      throw new RequestException(
          507, "there are " + limit + " references already; DELETE /stub forgets them");
    }
    Reference fresh = new Reference(script);
    Reference first = in.map.putIfAbsent(name, fresh);
    if (first != null) {
      in.size.decrementAndGet();
      return first;
    }
    return fresh;
  }

  /** What is forgotten at once. */
  private static final class Held {
    final ConcurrentMap<String, Reference> map = new ConcurrentHashMap<>();
    final AtomicInteger size = new AtomicInteger();
  }
}
