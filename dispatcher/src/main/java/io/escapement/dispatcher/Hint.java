package io.escapement.dispatcher;

/** A word from the dispatch topic that a task waits. */
record Hint(long task, String tenant, int slot, long dueNanos) {}
