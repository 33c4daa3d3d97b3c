package io.escapement.dispatcher;

import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;

/** The handlers of this process, one a kind. */
public final class Handlers {

  private final Map<String, TaskHandler> byKind;

  private Handlers(Map<String, TaskHandler> byKind) {
    this.byKind = byKind;
  }

  /**
   * Those that the class path offers.
   *
   * @throws DispatcherException if two serve the same kind
   */
  public static Handlers load() {
    return of(ServiceLoader.load(TaskHandler.class));
  }

  /**
   * These and no others.
   *
   * @throws DispatcherException if two serve the same kind
   */
  public static Handlers of(Iterable<? extends TaskHandler> handlers) {
    Map<String, TaskHandler> byKind = new TreeMap<>();
    for (TaskHandler handler : handlers) {
      TaskHandler other = byKind.put(handler.kind(), handler);
      if (other != null) {
        throw new DispatcherException(
            "kind '"
                + handler.kind()
                + "' has two handlers, "
                + other.getClass().getName()
                + " and "
                + handler.getClass().getName()
                + "; leave one on the class path");
      }
    }
    return new Handlers(byKind);
  }

  /** The kinds that have a handler. */
  public Set<String> kinds() {
    return Set.copyOf(byKind.keySet());
  }

  TaskHandler forKind(String kind) {
    TaskHandler handler = byKind.get(kind);
    if (handler == null) {
      throw new IllegalStateException("claimed a task of the kind '" + kind + "' without handler");
    }
    return handler;
  }
}
