package io.escapement.wheel.bench;

import java.util.concurrent.TimeUnit;
import org.agrona.collections.Long2LongHashMap;

/** Agrona's wheel with the payloads in Agrona's map: what it takes to do what the others do. */
final class AgronaPayloadContender extends AgronaContender {
  private final Long2LongHashMap payloads = new Long2LongHashMap(-1);

  AgronaPayloadContender(int places) {
    super(places);
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    super.schedule(place, deadlineNanos);
    payloads.put(handles[place], place);
  }

  @Override
  void cancel(int place) {
    super.cancel(place);
    payloads.remove(handles[place]);
  }

  @Override
  boolean fired(TimeUnit unit, long now, long timerId) {
    checksum += payloads.remove(timerId);
    return true;
  }
}
