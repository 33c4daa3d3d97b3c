-- Claims what is due in some slots of a queue, oldest first, at most p_limit tasks; p_slots,
-- p_kinds, p_channels null: all. Answers as claim does.
--
-- What is paused, or not asked for, is passed over lane by lane and costs nothing, however
-- much of it there is. What others hold locked is passed over too.
create or replace function escapement.claim_due(p_owner text, p_queue text, p_slots int[],
  p_kinds text[], p_limit int, p_channels text[] default null)
returns table (task_id bigint, answer text, state escapement.task_state, attempt int, tenant text,
  kind text, channel text, slot int, action escapement.task_action, uncertain boolean,
  address text, lease_micros bigint, timeout_micros bigint, due_at timestamptz,
  claimed_at timestamptz, tries_left int, idempotency_key text, namespace text, event_id text,
  subject text, content_type text, value bytea)
language plpgsql security definer set search_path = escapement, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  c_rounds constant int := 5;
  v_slots constant int[] := coalesce(p_slots, array(select generate_series(0, 255)));
  v_choosy constant boolean := is_choosy(p_queue, p_kinds, p_channels);
  v_wanted int;
  v_found bigint[];
  v_locked bigint[];
  v_got bigint[] := '{}';
  v_busy bigint[] := '{}';
begin
  if p_limit not between 1 and 10000 then
    raise exception 'escapement: a claim''s limit is from 1 to 10000' using errcode = 'ES002';
  end if;
  for i in 1 .. c_rounds loop
    v_wanted := p_limit + cardinality(v_busy);
    if v_choosy then
      v_found := array(
        select d.id
        from open_lanes(p_queue, p_kinds, p_channels) l cross join lateral (
          select t.id, t.due_at from task t
          where t.queue = p_queue and t.tenant = l.tenant and t.kind = l.kind
            and t.channel = l.channel and t.due_at <= now() and t.slot = any(v_slots)
            and t.state in ('SCHEDULED', 'UNKNOWN') and t.due_at is not null
          order by t.due_at limit v_wanted) d
        order by d.due_at limit v_wanted);
    else
      v_found := array(
        select d.id
        from unnest(v_slots) s(slot) cross join lateral (
          select t.id, t.due_at from task t
          where t.queue = p_queue and t.slot = s.slot and t.due_at <= now()
            and t.state in ('SCHEDULED', 'UNKNOWN')
          order by t.due_at limit v_wanted) d
        order by d.due_at limit v_wanted);
    end if;
    v_found := array(select f from unnest(v_found) f where f <> all(v_busy) and f <> all(v_got));
    exit when cardinality(v_found) = 0;
    -- What has been claimed meanwhile no longer waits; what another claim holds is passed over.
    v_locked := array(
      select t.id from task t
      where t.id = any(v_found) and t.state <= 'UNKNOWN' and t.due_at <= now()
      order by t.id for update skip locked);
    v_busy := v_busy || array(select f from unnest(v_found) f where f <> all(v_locked));
    v_got := v_got || v_locked;
    exit when cardinality(v_got) >= p_limit;
  end loop;
  if cardinality(v_got) > 0 then
    return query select * from claim(p_owner, p_kinds, v_got[1:p_limit], p_channels);
  end if;
end $$;
revoke all on function escapement.claim_due from public;
grant execute on function escapement.claim_due to escapement_dispatcher;
