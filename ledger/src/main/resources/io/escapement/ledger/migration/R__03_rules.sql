-- The state machine: a row for every combination that can occur; settle() refuses any other.
--
-- A line below stands for several rows. "past": an earlier attempt may have been accepted. Where
-- tries or cancel are null, it is the same either way. PARKED is UNKNOWN without a next step; DEAD
-- is FAILED or QUARANTINED, as the kind has it. docs/state-machine.md is drawn from the rows.
truncate escapement.rule;

with
  line(contracts, observations, past, tries, cancel, next, due, extra) as (values
    -- An effect in this database: nothing is ever at large.
    ('T', 'COMPLETED', false, null, false, 'DONE', 'NEVER', 'effect'),
    ('T', 'FAILED', false, true, false, 'SCHEDULED', 'BACKOFF', ''),
    ('T', 'LEASE_EXPIRED', false, true, false, 'SCHEDULED', 'NOW', ''),
    ('T', 'FAILED LEASE_EXPIRED', false, false, false, 'DEAD', 'NEVER', ''),
    ('T', 'POISONED', false, null, false, 'DEAD', 'NEVER', ''),
    -- Whoever asked to cancel a running task gets it, whatever the run came to.
    ('T', 'COMPLETED FAILED POISONED LEASE_EXPIRED', false, null, true, 'CANCELLED', 'NEVER', ''),

    -- Accepted is accepted, also when a cancellation came meanwhile.
    ('IQO', 'ACCEPTED ACCEPTED_REPLAY', false, null, null, 'DONE', 'NEVER', ''),
    ('IQO', 'ACCEPTED ACCEPTED_REPLAY', true, null, null, 'DONE', 'NEVER', ''),
    ('Q', 'QUERY_FOUND', true, null, null, 'DONE', 'NEVER', ''),

    -- Surely not accepted, and nothing at large.
    ('IQO', 'REFUSED', false, true, false, 'SCHEDULED', 'BACKOFF', ''),
    ('IQO', 'REFUSED', false, false, false, 'DEAD', 'NEVER', ''),
    ('IQO', 'REJECTED', false, null, false, 'FAILED', 'NEVER', ''),
    ('IQO', 'REFUSED REJECTED', false, null, true, 'CANCELLED', 'NEVER', ''),

    -- Surely not accepted, but an earlier call may have been.
    ('IQ', 'REFUSED', true, true, false, 'UNKNOWN', 'BACKOFF', ''),
    ('Q', 'REFUSED', true, true, true, 'UNKNOWN', 'BACKOFF', ''),
    ('IQ', 'REFUSED', true, false, false, 'PARKED', 'NEVER', ''),
    ('Q', 'REFUSED', true, false, true, 'PARKED', 'NEVER', ''),
    ('I', 'REFUSED', true, null, true, 'PARKED', 'NEVER', ''),
    ('O', 'REFUSED', true, null, null, 'PARKED', 'NEVER', ''),
    ('IQO', 'REJECTED', true, null, null, 'PARKED', 'NEVER', ''),

    -- No answer. The same key again; or ask, once what was accepted can be found; or a person.
    ('I', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', false, true, false, 'UNKNOWN', 'BACKOFF', ''),
    ('I', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', true, true, false, 'UNKNOWN', 'BACKOFF', ''),
    ('I', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', false, false, false, 'PARKED', 'NEVER', ''),
    ('I', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', true, false, false, 'PARKED', 'NEVER', ''),
    ('I', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', false, null, true, 'PARKED', 'NEVER', ''),
    ('I', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', true, null, true, 'PARKED', 'NEVER', ''),
    ('Q', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', false, true, null, 'UNKNOWN', 'SETTLE', ''),
    ('Q', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', true, true, null, 'UNKNOWN', 'SETTLE', ''),
    ('Q', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', false, false, null, 'PARKED', 'NEVER', ''),
    ('Q', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', true, false, null, 'PARKED', 'NEVER', ''),
    ('O', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', false, null, null, 'PARKED', 'NEVER', ''),
    ('O', 'TIMEOUT IO_ERROR UNCLEAR LEASE_EXPIRED', true, null, null, 'PARKED', 'NEVER', ''),

    ('Q', 'QUERY_NOT_FOUND', true, true, false, 'SCHEDULED', 'NOW', ''),
    ('Q', 'QUERY_NOT_FOUND', true, false, false, 'DEAD', 'NEVER', ''),
    ('Q', 'QUERY_NOT_FOUND', true, null, true, 'CANCELLED', 'NEVER', ''),
    ('Q', 'QUERY_FAILED', true, true, null, 'UNKNOWN', 'BACKOFF', ''),
    ('Q', 'QUERY_FAILED', true, false, null, 'PARKED', 'NEVER', ''),

    -- Made by the ledger.
    ('TIQO', 'PREFERENCE_OFF', false, null, false, 'SUPPRESSED', 'NEVER', ''),
    ('TIQO', 'TTL_EXPIRED', false, null, false, 'FAILED', 'NEVER', ''),
    ('TIQO', 'PREFERENCE_OFF TTL_EXPIRED', false, null, true, 'CANCELLED', 'NEVER', ''),
    ('IQO', 'PREFERENCE_OFF TTL_EXPIRED', true, null, null, 'PARKED', 'NEVER', ''),
    ('I', 'KEY_EXPIRED', true, null, null, 'PARKED', 'NEVER', ''),

    -- Handed back unstarted.
    ('TIQO', 'RELEASED', false, null, false, 'SCHEDULED', 'NOW', 'try'),
    ('TIQO', 'RELEASED', false, null, true, 'CANCELLED', 'NEVER', 'try'),
    ('I', 'RELEASED', true, null, false, 'UNKNOWN', 'NOW', 'try'),
    ('I', 'RELEASED', true, null, true, 'PARKED', 'NEVER', 'try'),
    ('Q', 'RELEASED', true, null, null, 'UNKNOWN', 'NOW', 'try'),

    -- Said by a person, of parked tasks only.
    ('IQO', 'MANUAL_DONE', true, null, null, 'DONE', 'NEVER', ''),
    ('IQO', 'MANUAL_FAILED', true, null, null, 'FAILED', 'NEVER', ''),
    ('IQO', 'MANUAL_RETRY', true, null, false, 'SCHEDULED', 'NOW', 'fresh'),
    ('IQO', 'MANUAL_RETRY', true, null, true, 'CANCELLED', 'NEVER', '')
  ),
  contract(letter, name) as (values
    ('T', 'TRANSACTIONAL'), ('I', 'IDEMPOTENT'), ('Q', 'QUERYABLE'), ('O', 'OPAQUE')),
  either(yes) as (values (true), (false)),
  policy(exhaustion) as (values ('FAILED'), ('QUARANTINED'))
insert into escapement.rule (key, contract, observation, uncertain, tries_left, cancel_requested,
  exhaustion, next_state, next_uncertain, next_due, returns_try, fresh_tries, writes_effect)
select escapement.rule_key(c.name, o.name, l.past, t.yes, q.yes, p.exhaustion),
       c.name, o.name, l.past, t.yes, q.yes, p.exhaustion,
       (case l.next when 'PARKED' then 'UNKNOWN' when 'DEAD' then p.exhaustion else l.next end)
         ::escapement.task_state,
       l.next in ('UNKNOWN', 'PARKED'), l.due,
       l.extra = 'try', l.extra = 'fresh', l.extra = 'effect'
from line l
  join contract c on position(c.letter in l.contracts) > 0
  cross join lateral unnest(string_to_array(l.observations, ' ')) o(name)
  join either t on l.tries is null or t.yes = l.tries
  join either q on l.cancel is null or q.yes = l.cancel
  cross join policy p;
