package io.escapement.ingest;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;

/** A real consumer seen through something that can hold it up at chosen moments. */
final class ConsumerLens {

  private ConsumerLens() {}

  /** What happens on the consumer's thread around its calls. */
  interface Moments {
    /** Before a poll. */
    default void beforePoll(Consumer<byte[], byte[]> consumer) throws InterruptedException {}

    /** After a poll that brought records. */
    default void polled(ConsumerRecords<?, ?> records) throws InterruptedException {}

    /** Before offsets are committed. */
    default void committing() throws InterruptedException {}
  }

  static UnaryOperator<Consumer<byte[], byte[]>> of(Moments moments) {
    return consumer -> through(consumer, moments);
  }

  @SuppressWarnings("unchecked")
  private static Consumer<byte[], byte[]> through(
      Consumer<byte[], byte[]> consumer, Moments moments) {
    return (Consumer<byte[], byte[]>)
        Proxy.newProxyInstance(
            ConsumerLens.class.getClassLoader(),
            new Class<?>[] {Consumer.class},
            (proxy, method, arguments) -> {
              boolean poll = method.getName().equals("poll");
              if (poll) {
                moments.beforePoll(consumer);
              }
              if (method.getName().equals("commitAsync")) {
                moments.committing();
              }
              try {
                Object answer = method.invoke(consumer, arguments);
                if (poll && answer instanceof ConsumerRecords<?, ?> polled && !polled.isEmpty()) {
                  moments.polled(polled);
                }
                return answer;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
