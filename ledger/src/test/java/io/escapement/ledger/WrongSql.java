package io.escapement.ledger;

/**
 * Statements as they are written by who has not been bitten yet: the guard is taken out of each.
 * The tests' checkers must catch what they do.
 */
final class WrongSql {

  private WrongSql() {}

  /** An intent, as a statement of its own. */
  static String intent(String id) {
    return """
    insert into escapement.intent (id, namespace, event_id, tenant, kind, slot, first_task,
      task_count, value, issued_at, last_issued_at)
    select n, '/test', '%s', 'acme', 'work', 0, n, 1, '{}', now(), now()
    from nextval('escapement.task_id') n
    """
        .formatted(id);
  }

  /** The task of the latest intent and its seat, without a look at whether there is one. */
  static String task(String id) {
    return """
    insert into escapement.task (id, intent_id, tenant, kind, channel, queue, slot, bytes, state,
      due_at, tries_left)
    select i.id, i.id, 'acme', 'work', 'local', 'default', 0, 2, 'SCHEDULED', now(), 5
    from escapement.intent i where i.event_id = '%s';
    update escapement.budget set used_tasks = used_tasks + 1, used_bytes = used_bytes + 2
    where tenant = ''
    """
        .formatted(id);
  }

  /** A whole promise, in one transaction, by who has read the budget before it. */
  static String promise(String id) {
    return "begin;" + intent(id) + ";" + task(id) + "; commit";
  }

  /** What is asked of an admission that looks for room before it looks at who asks. */
  static String capacityBeforeIdentity(String id) {
    return """
    with room as (
      select used_tasks < max_tasks as left_over from escapement.budget where tenant = ''
      for update)
    select case
      when not room.left_over then 'GLOBAL_FULL'
      when exists (select from escapement.intent where event_id = '%s') then 'REPLAY'
      else 'ACCEPTED' end
    from room
    """
        .formatted(id);
  }

  /** The second half of select-then-update. */
  static String claimUnlooked(long task, String owner) {
    return """
    update escapement.task set state = 'CLAIMED', attempt = attempt + 1, action = 'RUN',
      claimed_at = clock_timestamp(), lease_owner = '%s',
      lease_until = clock_timestamp() + interval '1 minute'
    where id = %d
    """
        .formatted(owner, task);
  }

  /** A completion that knows the task and not the attempt. */
  static String completeById(long task, int attempt) {
    return """
    begin;
    insert into escapement.effect (task_id, attempt, bytes) values (%1$d, %2$d, '');
    insert into escapement.attempt (task_id, number, worker, action, finished_at, outcome)
    values (%1$d, %2$d, 'somebody', 'RUN', now(), 'COMPLETED')
    on conflict (task_id, number) do update set outcome = excluded.outcome;
    update escapement.task set state = 'DONE', due_at = null, lease_owner = null,
      lease_until = null, claimed_at = null, action = null
    where id = %1$d;
    insert into escapement.release_slip (tenant, tasks, bytes)
    select tenant, 1, bytes from escapement.task where id = %1$d;
    commit
    """
        .formatted(task, attempt);
  }
}
