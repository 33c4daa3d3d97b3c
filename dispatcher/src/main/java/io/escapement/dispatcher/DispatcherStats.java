package io.escapement.dispatcher;

import java.util.List;
import java.util.Map;

/**
 * What a dispatcher has in hand now and has done since it started.
 *
 * @param inHand claimed and not yet completed
 * @param ready due, waiting to be claimed
 * @param throttled due, and their kind or channel is at its limit, or the channel fails
 * @param timers known, not yet due
 * @param slots owned
 * @param claimed attempts begun
 * @param done tasks completed
 * @param retried attempts that failed and will be tried again, or were handed back
 * @param ended tasks that ended without being done
 * @param late attempts that were overtaken, or whose lease was over
 * @param notDue claims that came too early by the database's clock
 * @param leasesLost leases lost while their handlers ran
 * @param stuckHandlers handlers that run on though their lease is lost
 * @param overdueCalls calls to the outside that run on though their time is over
 * @param outages channels, and destinations of channels, that fail and are left alone for now
 * @param clockErrorNanos how far this process may be behind the database's clock
 * @param noHandler kinds and channels of which something is due that have no handler here
 * @param stopping whether it is being closed
 * @param troubles loops whose last turn failed, with the failure
 */
public record DispatcherStats(
    int inHand,
    int ready,
    int throttled,
    int timers,
    int slots,
    long claimed,
    long done,
    long retried,
    long ended,
    long late,
    long notDue,
    long leasesLost,
    int stuckHandlers,
    int overdueCalls,
    List<String> outages,
    long clockErrorNanos,
    List<String> noHandler,
    boolean stopping,
    Map<String, String> troubles) {}
