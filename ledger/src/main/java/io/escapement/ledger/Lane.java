package io.escapement.ledger;

/** What a worker must be able to do for a task: its kind, and the channel it runs on. */
public record Lane(String kind, String channel) {}
