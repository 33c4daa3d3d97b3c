-- From when on an uncertain task's last call can be asked for; null if its channel can't be asked. An
-- operator's haste must not make "not found" of what cannot be found yet.
--
-- Internal: granted to nobody.
create or replace function escapement.ask_from(p_task bigint, p_channel text) returns timestamptz
language sql stable set search_path = escapement, pg_temp as $$
  select a.finished_at + c.settle
         + case when a.outcome = 'LEASE_EXPIRED' then c.timeout else interval '0' end
  from attempt a join channel c on c.name = p_channel
  where a.task_id = p_task and a.action = 'SEND' and c.contract = 'QUERYABLE'
  order by a.number desc limit 1;
$$;
revoke all on function escapement.ask_from from public;
