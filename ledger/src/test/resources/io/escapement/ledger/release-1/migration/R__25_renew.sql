-- Gives leases a full length again, but none past its kind's timeout. Answers with one row a
-- lease, in order: RENEWED, CANCEL_REQUESTED (renewed: stop, nothing will be committed), BUSY
-- (the row was locked; not lost), LOST.
create or replace function escapement.renew(p_tasks bigint[], p_attempts int[])
returns table (answer text)
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
begin
  return query
  with held as (
    select t.id, t.attempt
    from unnest(p_tasks, p_attempts) u(task, attempt)
      join task t on t.id = u.task and t.attempt = u.attempt
    where t.lease_until > clock_timestamp()
    order by t.id for update of t skip locked
  ),
  renewed as (
    update task t
    set lease_until = greatest(t.lease_until,
          least(clock_timestamp() + k.lease, t.claimed_at + k.timeout))
    from held h, kind k
    where t.id = h.id and t.attempt = h.attempt and k.name = t.kind
      and t.lease_until > clock_timestamp()
    returning t.id, t.cancel_requested
  )
  select case
           when r.id is not null and r.cancel_requested then 'CANCEL_REQUESTED'
           when r.id is not null then 'RENEWED'
           when t.lease_until > clock_timestamp() then 'BUSY'
           else 'LOST'
         end
  from unnest(p_tasks, p_attempts) with ordinality u(task, attempt, ord)
    left join renewed r on r.id = u.task
    left join task t on r.id is null and t.id = u.task and t.attempt = u.attempt
  order by u.ord;
end $$;
revoke all on function escapement.renew from public;
grant execute on function escapement.renew to escapement_dispatcher;
