-- The state machine of the TRANSACTIONAL contract: nothing is ever at large, so no row is
-- uncertain. A row for every combination that can occur; settle() refuses any other.
truncate escapement.rule;

with
  tries(tries_left) as (values (true), (false)),
  policy(exhaustion) as (values ('FAILED'), ('QUARANTINED')),
  -- cancel_requested is false: what happens in the ordinary course.
  course(observation, tries_left, exhaustion, next_state, next_due, returns_try, writes_effect) as (
    select 'COMPLETED', tries_left, exhaustion, 'DONE', 'NEVER', false, true from tries, policy
    union all
    select o, true, exhaustion, 'SCHEDULED', due, false, false
      from policy, (values ('FAILED', 'BACKOFF'), ('LEASE_EXPIRED', 'NOW')) f(o, due)
    union all
    select o, false, exhaustion, exhaustion, 'NEVER', false, false
      from policy, (values ('FAILED'), ('LEASE_EXPIRED')) f(o)
    union all
    select 'POISONED', tries_left, exhaustion, exhaustion, 'NEVER', false, false from tries, policy
    union all
    select 'RELEASED', tries_left, exhaustion, 'SCHEDULED', 'NOW', true, false from tries, policy
    union all
    select 'TTL_EXPIRED', tries_left, exhaustion, 'FAILED', 'NEVER', false, false from tries, policy
  ),
  every(observation, tries_left, cancel_requested, exhaustion, next_state, next_due, returns_try,
        writes_effect) as (
    select observation, tries_left, false, exhaustion, next_state, next_due, returns_try,
           writes_effect from course
    union all
    -- Whoever asked to cancel a running task gets it, whatever the run came to.
    select observation, tries_left, true, exhaustion, 'CANCELLED', 'NEVER', false, false from course
  )
insert into escapement.rule (key, contract, observation, uncertain, tries_left, cancel_requested,
  exhaustion, next_state, next_uncertain, next_due, returns_try, writes_effect)
select escapement.rule_key('TRANSACTIONAL', observation, false, tries_left, cancel_requested,
         exhaustion),
       'TRANSACTIONAL', observation, false, tries_left, cancel_requested, exhaustion,
       next_state::escapement.task_state, false, next_due, returns_try, writes_effect
from every;
