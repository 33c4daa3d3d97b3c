package io.escapement.dispatcher;

import java.util.Map;

/**
 * What a dispatcher has in hand now and has done since it started.
 *
 * @param inHand claimed and not yet completed
 * @param ready due, waiting to be claimed
 * @param timers known, not yet due
 * @param slots owned
 * @param claimed attempts begun
 * @param done tasks completed
 * @param retried attempts that failed and will be tried again, or were handed back
 * @param ended tasks that ended without being done
 * @param late attempts that were overtaken, or whose lease was over
 * @param notDue claims that came too early by the database's clock
 * @param troubles loops whose last turn failed, with the failure
 */
public record DispatcherStats(
    int inHand,
    int ready,
    int timers,
    int slots,
    long claimed,
    long done,
    long retried,
    long ended,
    long late,
    long notDue,
    Map<String, String> troubles) {}
