-- The integer that a rule is found by.
create or replace function escapement.rule_key(contract text, observation text, uncertain boolean,
  tries_left boolean, cancel_requested boolean, exhaustion text) returns int
language sql immutable parallel safe
return
  (case contract
    when 'TRANSACTIONAL' then 0
  end * 64
  + case observation
    when 'COMPLETED' then 0
    when 'FAILED' then 1
    when 'POISONED' then 2
    when 'LEASE_EXPIRED' then 3
    when 'RELEASED' then 4
    when 'TTL_EXPIRED' then 5
  end) * 16
  + uncertain::int * 8 + tries_left::int * 4 + cancel_requested::int * 2
  + (exhaustion = 'QUARANTINED')::int;
revoke all on function escapement.rule_key from public;
