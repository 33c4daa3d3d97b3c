-- In the order of the index, which costs least.
update escapement.task t
set state = 'CLAIMED', attempt = t.attempt + 1, tries_left = t.tries_left - 1, action = 'RUN',
    claimed_at = clock_timestamp(), lease_owner = 'bare',
    lease_until = clock_timestamp() + interval '30 seconds'
where t.id = any(array(
  select id from escapement.task
  where queue = 'default' and state in ('SCHEDULED', 'UNKNOWN') and due_at <= now()
  order by slot, due_at limit ?
  for update skip locked))
returning t.id
