package io.escapement.dispatcher;

import java.util.List;
import java.util.Map;

/**
 * A dispatcher as JMX shows it, {@code io.escapement:type=Dispatcher,name="<topic prefix>"}.
 * Counters run from the start of the process.
 */
public interface DispatcherMXBean {

  /** RUNNING, DEGRADED (something in it fails and is tried again) or STOPPING. */
  String getState();

  /** Slots that are this process's, of 256 a queue. */
  int getSlots();

  /** Timers of tasks that are not due. */
  int getTimers();

  /** Due tasks that wait to be claimed. */
  int getReady();

  /** Due tasks that wait because their kind or channel is at its limit, or the channel fails. */
  int getThrottled();

  /** Tasks claimed and not yet completed. */
  int getInHand();

  /** Attempts begun. */
  long getClaimed();

  /** Tasks completed. */
  long getDone();

  /** Attempts that failed and are tried again, or were handed back. */
  long getRetried();

  /** Tasks that ended without being done. */
  long getEnded();

  /** Attempts that were overtaken, or whose lease was over when they ended. */
  long getLate();

  /** Claims that came too early by the database's clock. */
  long getNotDue();

  /** Leases lost while their handlers ran. */
  long getLeasesLost();

  /** Handlers that run on though their lease is lost. */
  int getStuckHandlers();

  /** Calls to the outside that run on though their time is over. */
  int getOverdueCalls();

  /** Channels, and destinations of channels, that fail and are left alone for now. */
  List<String> getOutages();

  /** How far this process may be behind the database's clock, in milliseconds. */
  double getClockErrorMillis();

  /** Kinds and channels of which something is due that this process has no handler for. */
  List<String> getNoHandler();

  /** What fails at present, by loop. */
  Map<String, String> getTroubles();
}
