package io.escapement.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ctrl-C and SIGTERM: the first asks to drain and stop in order, the second ends the process.
 *
 * <p>A shutdown hook would not do: all hooks run at once, so the embedded database would stop under
 * the work that is being drained, and a second signal would wait for the first. The JDK has no
 * public way to a signal but the one that every JVM offers in {@code sun.misc}; it is reached by
 * name, as the compiler warns of it without a way to agree.
 *
 * <p>Thread rule: install once a process; await from any thread.
 */
final class StopSignal {

  private static final int EXIT_BY_SIGNAL = 130;

  private final CompletableFuture<String> first = new CompletableFuture<>();
  private final AtomicInteger count = new AtomicInteger();

  private StopSignal() {}

  /** From now on, signals come here. */
  static StopSignal install() {
    StopSignal stop = new StopSignal();
    for (String name : new String[] {"INT", "TERM"}) {
      stop.handle(name);
    }
    return stop;
  }

  /** Done when the first signal came; fails if the work that is waited for failed. */
  CompletableFuture<String> requested() {
    return first;
  }

  private void handle(String name) {
    try {
      Class<?> signalClass = Class.forName("sun.misc.Signal");
      Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
      Object signal = signalClass.getConstructor(String.class).newInstance(name);
      InvocationHandler onSignal =
          (proxy, method, arguments) ->
              switch (method.getName()) {
                case "handle" -> {
                  arrived(name);
                  yield null;
                }
                case "equals" -> arguments != null && same(proxy, arguments[0]);
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "StopSignal";
              };
      Object handler =
          Proxy.newProxyInstance(
              StopSignal.class.getClassLoader(), new Class<?>[] {handlerClass}, onSignal);
      signalClass.getMethod("handle", signalClass, handlerClass).invoke(null, signal, handler);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Java runtime offers no signals", e);
    }
  }

  @SuppressWarnings("ReferenceEquality")
  private static boolean same(Object proxy, Object other) {
    return proxy == other;
  }

  private void arrived(String name) {
    if (count.incrementAndGet() == 1) {
      first.complete(name);
    } else {
      // What breaks now was told to break.
      Logging.silence();
      // Hooks still run: they stop the embedded database, which would outlive this process.
      Thread.ofPlatform().daemon().start(() -> System.exit(EXIT_BY_SIGNAL));
    }
  }
}
