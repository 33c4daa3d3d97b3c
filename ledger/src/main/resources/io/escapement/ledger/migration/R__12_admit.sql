-- Decides every record of a batch: fence, identity, age, size, budgets, then the promise itself,
-- in one transaction. Answers with one row a record, in the batch's order; or, if a position has
-- another owner now, with one row 'fenced' a partition (reason: its index from 1), nothing done.
--
-- A kind that goes by preference asks for one task for each channel that the recipient has switched
-- on, and its identity is the recipient's; all other kinds ask for one task, and the identity is the
-- source's. A record without a position was not read from Kafka: nothing is told of it but its work.
--
-- A partition with p_hold waits instead of being refused as full: the record that finds no room and all
-- behind it in its partition are 'held', nothing is told of them, and the position stays before them. What
-- could never fit is refused all the same; tenant_full holds only where p_hold says 'tenant'.
--
-- p_optimistic: the work is written first and the budgets are locked last, so that admissions wait for
-- one another as briefly as can be. If it then does not fit (or a tenant is new), the call fails with
-- ES003, nothing is done, and the caller calls again without.
--
-- Locks, in this order: positions, identities (sorted), budgets (global row, then tenants sorted).
create or replace function escapement.admit(
  -- the partitions of the batch
  p_topics text[], p_topic_ids uuid[], p_partitions int[], p_expected bigint[], p_next bigint[],
  -- the records; those with p_refused are decided already
  p_position int[], p_offset bigint[], p_refused text[], p_reason text[],
  p_namespace text[], p_event_id text[], p_tenant text[], p_kind text[], p_subject text[],
  p_issued bigint[], p_due bigint[], p_expires bigint[], p_max_attempts int[],
  p_content_type text[], p_value bytea[], p_envelope bytea[],
  -- by partition: null, 'global' or 'tenant', the budgets whose room it waits for
  p_hold text[] default null, p_optimistic boolean default false)
returns table (decision text, reason text)
language plpgsql security definer set search_path = escapement, pg_temp
  -- Every table here is looked up by key. Without statistics (a new ledger, a restored one) the
  -- planner would keep plans that walk whole tables, and they outlive the first thousands of rows.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  c_epoch constant timestamptz := timestamptz 'epoch';
  c_micro constant interval := interval '1 microsecond';
  c_second constant interval := interval '1 second'; -- a day is not always 24 hours
  c_bound constant bigint := 10000000000000000; -- microseconds: the year 2286, and as far back
  c_century constant interval := interval '876600 hours';
  c_control constant text := '[\u0001-\u001f\u007f-\u009f]';
  c_plenty constant bigint := 1000000000000000000;
  c_records constant int := cardinality(p_offset);
  v_ledger ledger%rowtype;
  v_global budget%rowtype;
  v_fenced int[];
  v_decision text[];
  v_reason text[];
  v_namespace text[]; -- the name space of the record's identity
  v_channels text[];  -- the channels that a notification goes to, joined by commas; null: its kind's
  v_tasks int[];      -- how many tasks the record asks for
  v_slot int[];
  v_queue text[];     -- of its kind: queue, channel and tries
  v_channel text[];
  v_tries int[];
  v_held text[];      -- what a candidate is if its identity turns out to be new: age, size
  v_intent bigint[];  -- the intent that bears the record's identity
  v_fresh boolean[];  -- that intent was made by this transaction
  v_same boolean[];   -- the record equals that intent
  v_leader int[];     -- the record that made a fresh intent
  v_tenants text[];   -- the batch's tenants with candidates, sorted
  v_tenant int[];     -- a candidate's index among them
  v_room_tasks bigint[];
  v_room_bytes bigint[];
  v_global_tasks bigint;
  v_global_bytes bigint;
  v_most_tasks bigint[]; -- the tenants' limits
  v_most_bytes bigint[];
  v_rate double precision;           -- how fast the whole ledger's seats come back, tasks a second
  v_rates double precision[];        -- and each tenant's
  v_short bigint := 0;               -- how many tasks of this batch found no room in the whole ledger
  v_shorts bigint[];                 -- and in each tenant's budget
  -- Milliseconds after which a refused record might find room.
  v_wait bigint[] := array_fill(null::bigint, array[c_records]);
  v_held_at bigint[] := array_fill(null::bigint, array[cardinality(p_topics)]); -- by partition:
  v_held_for text[];                 -- the offset of the record that waits, and for which budget
  v_held_any boolean := false;
  v_full text;
  v_seats int;
  v_fits boolean;
  v_simple boolean; -- all that was undecided is accepted
  v_folded boolean := false;
  v_holder int[];     -- the record that an identity group's promise was made for, by leader
  v_bytes bigint;
  v_now constant bigint := extract(epoch from now()) * 1000000;
  v_before constant bigint := nextval('task_id');
  v_missing int;
  v_round int := 0;
  v_candidates int;
  v_inserted int;
  v_aged boolean;
  v_all_new boolean; -- each candidate has an identity of its own that nobody had before
  i int;
  j int;
begin
  v_fenced := advance_positions(p_topics, p_topic_ids, p_partitions, p_expected, p_next);
  if cardinality(v_fenced) > 0 then
    return query select 'fenced', f::text from unnest(v_fenced) f;
    return;
  end if;

  -- This is the only door: what a program can't rightly say is not taken from it.
  if exists (select from unnest(p_refused) r where r not in ('invalid', 'oversize'))
     or exists (select from unnest(p_max_attempts) m where m not between 1 and 1000)
     or exists (select from unnest(p_expected, p_next) u(expected, next) where next < expected) then
    raise exception 'escapement: admit was called with a decision, a number of attempts or a position that can''t be'
      using errcode = 'ES002';
  end if;

  select * into v_ledger from ledger;

  -- What is wrong with a record whoever it is from; null: a candidate.
  select array_agg(coalesce(r.refused, case when r.wrong is not null then 'invalid' end)
           order by r.ord),
         array_agg(coalesce(r.reason, r.wrong) order by r.ord),
         array_agg(case
           when r.issued < now() - c_second * extract(epoch from v_ledger.replay_window) then 'too_old'
           when octet_length(r.value) > v_ledger.max_payload_bytes then 'oversize'
         end order by r.ord),
         array_agg(r.identity order by r.ord),
         array_agg(r.channels order by r.ord),
         array_agg(coalesce(cardinality(string_to_array(r.channels, ',')), 1) order by r.ord),
         array_agg((hashtextextended(r.identity || chr(1) || r.event_id, 0) & 255)::int
           order by r.ord),
         array_agg(r.queue order by r.ord), array_agg(r.channel order by r.ord),
         array_agg(r.tries order by r.ord)
    into v_decision, v_reason, v_held, v_namespace, v_channels, v_tasks, v_slot, v_queue,
      v_channel, v_tries
  from (
    select u.ord, u.refused, u.reason, u.value, u.issued, u.event_id, w.identity, w.channels,
           k.queue, k.channels[1] as channel, coalesce(u.max_attempts, k.max_attempts) as tries,
           case
             when u.refused is not null then null
             when k.name is null then 'type: no kind of this name is defined'
             when concat(u.namespace, u.event_id, u.tenant, u.subject) ~ c_control then
               case when u.namespace ~ c_control then 'source' when u.event_id ~ c_control then 'id'
                    when u.tenant ~ c_control then 'tenant' else 'subject' end
               || ': has control characters'
             when coalesce(octet_length(u.namespace), 0) not between 1 and 1024
               then 'source: must have 1 to 1024 bytes'
             when coalesce(octet_length(u.event_id), 0) not between 1 and 512
               then 'id: must have 1 to 512 bytes'
             when coalesce(octet_length(u.tenant), 0) not between 1 and 128
               then 'tenant: must have 1 to 128 bytes'
             when octet_length(u.subject) not between 1 and 1024
               then 'subject: must have 1 to 1024 bytes'
             when starts_with(u.namespace, 'escapement:')
               then 'source: must not begin with escapement:'
             when k.routing = 'PREFERENCE' and u.subject is null
               then 'subject: required, because the recipient''s preferences decide'
             when octet_length(w.identity) > 1024
               then 'subject: too long together with the tenant'
             when u.value is null then 'data: the record has no value'
             when u.issued is null then 'time: missing'
             when u.issued > now() + interval '5 minutes'
               then 'time: more than 5 minutes ahead of the database''s clock'
             when u.due > now() + c_century then 'dueat: more than a hundred years ahead'
             when u.expires > now() + c_century then 'expiresat: more than a hundred years ahead'
             when u.expires <= coalesce(u.due, u.issued)
               then 'expiresat: not after the due time'
             when b.tenant is null and v_ledger.default_tenant_tasks is null
               then 'tenant: unknown, and unknown tenants are not admitted'
           end as wrong
    from (
      select u.ord, u.refused, u.reason, u.namespace, u.event_id, u.kind, u.tenant, u.subject,
             u.value, u.max_attempts,
             case when u.issued is not null then
               c_epoch + least(greatest(u.issued, -c_bound), c_bound) * c_micro end as issued,
             case when u.due is not null then
               c_epoch + least(greatest(u.due, -c_bound), c_bound) * c_micro end as due,
             case when u.expires is not null then
               c_epoch + least(greatest(u.expires, -c_bound), c_bound) * c_micro end as expires
      from unnest(p_refused, p_reason, p_namespace, p_event_id, p_kind, p_tenant, p_subject,
          p_value, p_issued, p_due, p_expires, p_max_attempts)
        with ordinality u(refused, reason, namespace, event_id, kind, tenant, subject, value,
          issued, due, expires, max_attempts, ord)
    ) u
      left join kind k on k.name = u.kind
      left join budget b on b.tenant = u.tenant and u.tenant <> ''
      cross join lateral (
        select case when k.routing = 'PREFERENCE' then coalesce(recipient(u.tenant, u.subject),
                      u.namespace) else u.namespace end as identity,
               case when k.routing = 'PREFERENCE' then (
                 select coalesce(string_agg(c.name, ',' order by c.ord), '')
                 from unnest(k.channels) with ordinality c(name, ord)
                   join preference p on p.tenant = u.tenant and p.subject = u.subject
                     and p.channel = c.name
                 where p.enabled) end as channels
      ) w
  ) r;

  -- Identity: the insert arbitrates between processes. What is refused below is taken out again.
  select count(*) filter (where u.decision is null and u.held is null),
         coalesce(bool_or(u.decision is null and u.held is not null), false)
    into v_candidates, v_aged
  from unnest(v_decision, v_held) u(decision, held);
  loop
    v_round := v_round + 1;
    v_intent := array(
      select case
               when u.decision is not null or u.held is not null then null
               when u.tasks <= 1 then nextval('task_id')
               else task_ids(u.tasks)
             end
      from unnest(v_decision, v_held, v_tasks) with ordinality u(decision, held, tasks, ord)
      order by u.ord);
    insert into intent (id, namespace, event_id, tenant, kind, subject, slot, first_task,
      task_count, content_type, value, issued_at, last_issued_at)
    select u.id, u.namespace, u.event_id, u.tenant, u.kind, u.subject, u.slot, u.id, u.tasks,
           u.content_type, u.value, c_epoch + u.issued * c_micro, c_epoch + u.issued * c_micro
    from unnest(v_intent, v_namespace, p_event_id, p_tenant, p_kind, p_subject, v_slot, v_tasks,
        p_content_type, p_value, p_issued) with ordinality
      u(id, namespace, event_id, tenant, kind, subject, slot, tasks, content_type, value, issued, ord)
    where u.id is not null
    order by u.namespace, u.event_id, u.ord
    on conflict (namespace, event_id) do nothing;
    get diagnostics v_inserted = row_count;
    v_all_new := v_inserted = v_candidates and not v_aged;
    if v_all_new then
      v_fresh := array_fill(true, array[c_records]);
      v_same := v_fresh;
      exit;
    end if;

    select array_agg(i.id order by u.ord),
           array_agg(f.fresh order by u.ord),
           array_agg(case when i.id is not null then
             i.tenant = u.tenant and i.kind = u.kind and i.subject is not distinct from u.subject
             and i.value = u.value end order by u.ord),
           count(*) filter (where u.decision is null and u.held is null and i.id is null)
      into v_intent, v_fresh, v_same, v_missing
    from unnest(v_namespace, p_event_id, p_tenant, p_kind, p_subject, p_value, v_decision, v_held)
        with ordinality u(namespace, event_id, tenant, kind, subject, value, decision, held, ord)
      left join intent i
        on i.namespace = u.namespace and i.event_id = u.event_id and u.decision is null
      -- Rows of this transaction bear its id (no savepoints here), and ids of a session only grow:
      -- an earlier call in the same transaction has made rows with lower ones.
      left join lateral (
        select i.xmin = pg_current_xact_id()::xid and i.id > v_before as fresh) f on true;
    exit when v_missing = 0;
    -- An identity was there at the insert and gone at the look: it was just being forgotten.
    if v_round >= 5 then
      raise exception 'escapement: identities come and go' using errcode = '40001';
    end if;
  end loop;

  if not v_all_new then
    v_decision := array(
      select coalesce(u.decision,
               case when u.intent is null then u.held
                    when not u.fresh and u.same then 'replay'
                    when not u.fresh then 'conflict'
               end)
      from unnest(v_decision, v_held, v_intent, v_fresh, v_same) with ordinality
        u(decision, held, intent, fresh, same, ord)
      order by u.ord);
  end if;

  -- Rows of replays that are to be brought up to date below are locked with the identities, before
  -- any budget, sorted.
  if array_position(v_decision, 'replay') is not null then
    perform from intent i
    where i.id = any(array(
      select u.intent from unnest(v_intent, v_decision) u(intent, decision)
      where u.decision = 'replay'))
      and i.last_issued_at < c_epoch + c_micro * (select max(t) from unnest(p_issued) t)
    order by i.namespace, i.event_id for update;
  end if;

  -- Budgets. Undecided now: the records of fresh identities, which the first of each group made.
  select array_agg(case when u.decision is null then u.leader end order by u.ord)
    into v_leader
  from (
    select u.ord, u.decision,
           (min(u.ord) filter (where u.decision is null and u.held is null)
             over (partition by u.intent))::int as leader
    from unnest(v_decision, v_intent, v_held) with ordinality u(decision, intent, held, ord)
  ) u;

  if array_position(v_decision, null) is not null then
    v_tenants := array(select distinct t from unnest(p_tenant, v_decision) u(t, d)
                       where d is null order by t);
    select array_agg(array_position(v_tenants, t) order by ord) into v_tenant
    from unnest(p_tenant) with ordinality u(t, ord);

    if p_optimistic then
      -- Whoever has a row finds out below whether there was room.
      v_global_tasks := c_plenty;
      v_global_bytes := c_plenty;
      v_room_tasks := array_fill(c_plenty, array[cardinality(v_tenants)]);
      v_room_bytes := v_room_tasks;
    else
      perform from budget where tenant = '' for update;
      perform from budget where tenant = any(v_tenants) order by tenant for update;
    end if;

    if not p_optimistic and v_ledger.max_tenants < (select count(*) from budget)
        + (select count(*) from unnest(v_tenants) t
           where not exists (select from budget b where b.tenant = t)) - 1 then
      for i in 1 .. c_records loop
        if v_decision[i] is null
           and not exists (select from budget b where b.tenant = p_tenant[i]) then
          v_decision[i] := 'invalid';
          v_reason[i] := 'tenant: unknown, and the ledger has as many tenants as it may';
        end if;
      end loop;
    end if;

    loop
      exit when p_optimistic;
      select * into strict v_global from budget where tenant = '';
      v_global_tasks := v_global.max_tasks - v_global.used_tasks;
      v_global_bytes := v_global.max_bytes - v_global.used_bytes;
      select array_agg(coalesce(b.max_tasks, v_ledger.default_tenant_tasks, 0)
                         - coalesce(b.used_tasks, 0) order by u.ord),
             array_agg(coalesce(b.max_bytes, v_ledger.default_tenant_bytes, 0)
                         - coalesce(b.used_bytes, 0) order by u.ord),
             array_agg(coalesce(b.max_tasks, v_ledger.default_tenant_tasks, 0) order by u.ord),
             array_agg(coalesce(b.max_bytes, v_ledger.default_tenant_bytes, 0) order by u.ord),
             array_agg(coalesce(decayed(b.drain_rate, b.drained_at), 0) order by u.ord)
        into v_room_tasks, v_room_bytes, v_most_tasks, v_most_bytes, v_rates
      from unnest(v_tenants) with ordinality u(tenant, ord) left join budget b using (tenant);

      -- Does all of it fit? Then nobody has to be asked in turn.
      select coalesce(bool_and(n.tasks <= v_room_tasks[n.tenant]
                               and n.bytes <= v_room_bytes[n.tenant]), true)
             and coalesce(sum(n.tasks) <= v_global_tasks, true)
             and coalesce(sum(n.bytes) <= v_global_bytes, true)
        into v_fits
      from (
        select u.tenant, sum(u.tasks) as tasks,
               sum(u.tasks * octet_length(u.value)::bigint) as bytes
        from unnest(v_decision, v_leader, v_tenant, p_value, v_tasks) with ordinality
          u(decision, leader, tenant, value, tasks, ord)
        where u.decision is null and u.leader = u.ord
        group by u.tenant
      ) n;
      exit when v_fits or v_folded;
      -- Nothing is refused as full while a visible slip is unfolded.
      perform fold_locked();
      v_folded := true;
    end loop;
    v_rate := decayed(v_global.drain_rate, v_global.drained_at);
    v_shorts := array_fill(0::bigint, array[cardinality(v_tenants)]);

    v_simple := p_optimistic and v_all_new;
    if v_simple then
      v_decision := array(select coalesce(u.decision, 'accepted')
        from unnest(v_decision) with ordinality u(decision, ord) order by u.ord);
    end if;

    -- In offset order: a record takes its seat, finds its identity taken by an earlier one of the
    -- batch, waits, or is refused.
    for i in 1 .. c_records loop
      continue when v_decision[i] is not null;
      if v_held_at[p_position[i]] is not null then
        v_decision[i] := 'held';
        continue;
      end if;
      j := v_holder[v_leader[i]];
      if j is not null then
        if p_tenant[i] = p_tenant[j] and p_kind[i] = p_kind[j]
           and p_subject[i] is not distinct from p_subject[j] and p_value[i] = p_value[j] then
          v_decision[i] := 'replay';
        else
          v_decision[i] := 'conflict';
        end if;
        continue;
      elsif v_held[i] is not null then
        v_decision[i] := v_held[i];
        continue;
      end if;
      v_seats := v_tasks[i];
      v_bytes := v_seats * octet_length(p_value[i])::bigint;
      v_full := case
        when v_seats = 0 then null -- what goes to nobody takes no seat, however full it is
        when v_global_tasks < v_seats or v_global_bytes < v_bytes then 'global_full'
        when v_room_tasks[v_tenant[i]] < v_seats or v_room_bytes[v_tenant[i]] < v_bytes
          then 'tenant_full'
      end;
      if v_full is null then
        v_decision[i] := 'accepted';
        v_holder[v_leader[i]] := i;
        v_global_tasks := v_global_tasks - v_seats;
        v_global_bytes := v_global_bytes - v_bytes;
        v_room_tasks[v_tenant[i]] := v_room_tasks[v_tenant[i]] - v_seats;
        v_room_bytes[v_tenant[i]] := v_room_bytes[v_tenant[i]] - v_bytes;
      elsif p_hold[p_position[i]] is not null
            and (v_full = 'global_full' or p_hold[p_position[i]] = 'tenant')
            and v_seats <= v_global.max_tasks and v_bytes <= v_global.max_bytes
            and (v_seats <= v_most_tasks[v_tenant[i]] and v_bytes <= v_most_bytes[v_tenant[i]]) then
        v_decision[i] := 'held';
        v_reason[i] := v_full;
        v_held_at[p_position[i]] := p_offset[i];
        v_held_for[p_position[i]] := v_full;
        v_held_any := true;
      else
        v_decision[i] := v_full;
        if v_full = 'global_full' then
          v_short := v_short + v_seats;
          v_wait[i] := retry_after(v_short - v_global_tasks, v_rate);
        else
          v_shorts[v_tenant[i]] := v_shorts[v_tenant[i]] + v_seats;
          v_wait[i] := retry_after(v_shorts[v_tenant[i]] - v_room_tasks[v_tenant[i]],
            v_rates[v_tenant[i]]);
        end if;
      end if;
    end loop;

    if v_held_any then
      -- What stands behind a record that waits is not decided, whatever it would have been.
      v_decision := array(
        select case when h.at <= u."offset" then 'held' else u.decision end
        from unnest(v_decision, p_position, p_offset) with ordinality
            u(decision, position, "offset", ord)
          left join unnest(v_held_at) with ordinality h(at, ord) on h.ord = u.position
        order by u.ord);
    end if;

    if not v_simple then
      -- A fresh identity whose group was refused as a whole leaves nothing behind.
      delete from intent
      where id = any(array(
        select u.intent
        from unnest(v_intent, v_fresh, v_decision) u(intent, fresh, decision)
        where u.fresh
        group by u.intent
        having not bool_or(u.decision = 'accepted')));

      -- A later one of the group was accepted in its leader's stead: the promise is to that one.
      update intent i
      set tenant = u.tenant, kind = u.kind, subject = u.subject, content_type = u.content_type,
          value = u.value, issued_at = c_epoch + u.issued * c_micro,
          last_issued_at = c_epoch + u.issued * c_micro, task_count = u.tasks,
          first_task = case when u.tasks <= 1 then i.id else task_ids(u.tasks) end
      from unnest(v_intent, v_decision, v_leader, p_tenant, p_kind, p_subject, p_content_type,
          p_value, p_issued, v_tasks) with ordinality
        u(intent, decision, leader, tenant, kind, subject, content_type, value, issued, tasks, ord)
      where i.id = u.intent and u.decision = 'accepted' and u.leader <> u.ord;
    end if;

    insert into task (id, intent_id, tenant, kind, channel, queue, slot, bytes, state, due_at,
      tries_left, max_attempts, expires_at)
    select u.intent, u.intent, u.tenant, u.kind, u.channel, u.queue, u.slot,
           octet_length(u.value), 'SCHEDULED', greatest(c_epoch + u.due * c_micro, now()),
           u.tries, u.max_attempts, c_epoch + u.expires * c_micro
    from unnest(v_intent, v_decision, v_channels, p_tenant, p_kind, v_channel, v_queue, v_slot,
        p_due, p_expires, v_tries, p_max_attempts, p_value)
        u(intent, decision, channels, tenant, kind, channel, queue, slot, due, expires, tries,
          max_attempts, value)
    where u.decision = 'accepted' and u.channels is null;

    if v_channels <> array_fill(null::text, array[c_records]) then
      insert into task (id, intent_id, tenant, kind, channel, queue, slot, bytes, state, due_at,
        tries_left, max_attempts, expires_at)
      select n.first_task + c.ord - 1, n.id, u.tenant, u.kind, c.name, u.queue, u.slot,
             octet_length(u.value), 'SCHEDULED', greatest(c_epoch + u.due * c_micro, now()),
             u.tries, u.max_attempts, c_epoch + u.expires * c_micro
      from unnest(v_intent, v_decision, v_channels, p_tenant, p_kind, v_queue, v_slot, p_due,
          p_expires, v_tries, p_max_attempts, p_value)
          u(intent, decision, channels, tenant, kind, queue, slot, due, expires, tries,
            max_attempts, value)
        join intent n on n.id = u.intent
        cross join lateral unnest(string_to_array(u.channels, ',')) with ordinality c(name, ord)
      where u.decision = 'accepted';
    end if;
  end if;

  if array_position(v_decision, 'replay') is not null then
    update intent i
    set last_issued_at = n.issued
    from (
      select u.intent, max(c_epoch + u.issued * c_micro) as issued
      from unnest(v_intent, v_decision, p_issued) u(intent, decision, issued)
      where u.decision = 'replay'
      group by u.intent
    ) n
    where i.id = n.intent and i.last_issued_at < n.issued;
  end if;

  if c_records > 0 then
    -- What was just written of an ordinary task is known; the tasks of others are read.
    insert into outbox (events)
    select string_agg(concat_ws(chr(10),
             case when u.position is not null then concat_ws(chr(9), 'R', u.decision,
               field(p_topics[u.position]), p_partitions[u.position], u."offset",
               field(u.tenant), field(u.kind), field(u.namespace), field(u.event_id),
               field(u.reason),
               case
                 when u.decision = 'accepted' and u.channels is null then u.intent || ':SCHEDULED'
                 when u.decision in ('accepted', 'replay') then field((
                   select string_agg(t.id || ':' || t.state, ',' order by t.id)
                   from intent i join task t
                     on t.id >= i.first_task and t.id < i.first_task + i.task_count
                   where i.id = u.intent))
                 else '\N'
               end,
               coalesce(u.wait::text, '\N')) end,
             case
               when u.decision <> 'accepted' then null
               when u.channels is null then concat_ws(chr(9), 'D', field(u.queue), u.intent,
                 field(u.tenant), u.slot, greatest(u.due, v_now))
               else (
                 select string_agg(concat_ws(chr(9), 'D', field(t.queue), t.id, field(t.tenant),
                   t.slot, (extract(epoch from t.due_at) * 1000000)::bigint), chr(10) order by t.id)
                 from intent i join task t
                   on t.id >= i.first_task and t.id < i.first_task + i.task_count
                 where i.id = u.intent)
             end,
             case when u.decision = 'invalid' and u.position is not null then concat_ws(chr(9), 'X',
               field(p_topics[u.position]), p_partitions[u.position], u."offset", field(u.reason),
               translate(encode(u.envelope, 'base64'), chr(10), ''),
               case when u.value is null or octet_length(u.value) > v_ledger.max_payload_bytes
                 then '\N' else translate(encode(u.value, 'base64'), chr(10), '') end,
               case when octet_length(u.value) > v_ledger.max_payload_bytes
                 then 'withheld' else 'whole' end)
             end),
           chr(10) order by u.ord)
    from unnest(p_position, p_offset, v_decision, v_reason, p_tenant, p_kind, v_namespace,
        p_event_id, v_intent, v_channels, v_queue, v_slot, p_due, p_value, p_envelope, v_wait)
      with ordinality u(position, "offset", decision, reason, tenant, kind, namespace, event_id,
        intent, channels, queue, slot, due, value, envelope, wait, ord)
    where u.decision <> 'held' and (u.position is not null or u.decision = 'accepted')
    having count(*) > 0;
  end if;

  perform hold_positions(p_topic_ids, p_partitions, v_held_at, v_held_for);

  -- The budgets come last, so that other admissions wait for as little as possible of this one.
  if array_position(v_decision, 'accepted') is not null then
    perform take_seats(p_tenant, v_decision, v_tasks, p_value, p_optimistic);
  end if;

  return query select u.decision, u.reason
    from unnest(v_decision, v_reason) with ordinality u(decision, reason, ord) order by u.ord;
end $$;
revoke all on function escapement.admit from public;
grant execute on function escapement.admit to escapement_ingest;
