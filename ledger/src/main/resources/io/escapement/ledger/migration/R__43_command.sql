-- What the data of each command may hold: the parameters of the operator function of that name.
-- need: 'value' (required), 'null' (required, and may be null), 'optional' (null is as if absent).
--
-- Internal: granted to nobody.
create or replace function escapement.command_parameters(p_type text)
returns table (name text, shape text, need text)
language sql immutable security definer set search_path = escapement, pg_temp as $$
  select p.name, p.shape, p.need
  from (values
    ('cancel', 'namespace', 'text', 'value'),
    ('cancel', 'event_id', 'text', 'value'),
    ('cancel', 'unstarted_only', 'flag', 'optional'),
    ('cancel', 'reason', 'text', 'optional'),
    ('quarantine', 'task', 'bigint', 'value'),
    ('quarantine', 'reason', 'text', 'optional'),
    ('redrive', 'task', 'bigint', 'value'),
    ('redrive', 'attempt', 'int', 'value'),
    ('redrive', 'reason', 'text', 'optional'),
    ('redrive_all', 'kind', 'text', 'optional'),
    ('redrive_all', 'channel', 'text', 'optional'),
    ('redrive_all', 'outcome', 'text', 'optional'),
    ('redrive_all', 'limit', 'int', 'value'),
    ('redrive_all', 'reason', 'text', 'optional'),
    ('reschedule', 'task', 'bigint', 'value'),
    ('reschedule', 'attempt', 'int', 'value'),
    ('reschedule', 'due', 'time', 'value'),
    ('reschedule', 'reason', 'text', 'optional'),
    ('resolve', 'task', 'bigint', 'value'),
    ('resolve', 'resolution', 'text', 'value'),
    ('resolve', 'note', 'text', 'optional'),
    ('resolve_all', 'resolution', 'text', 'value'),
    ('resolve_all', 'kind', 'text', 'optional'),
    ('resolve_all', 'channel', 'text', 'optional'),
    ('resolve_all', 'outcome', 'text', 'optional'),
    ('resolve_all', 'limit', 'int', 'value'),
    ('resolve_all', 'note', 'text', 'optional'),
    ('pause', 'scope', 'text', 'value'),
    ('pause', 'name', 'text', 'value'),
    ('pause', 'reason', 'text', 'optional'),
    ('resume', 'scope', 'text', 'value'),
    ('resume', 'name', 'text', 'value'),
    ('resume', 'reason', 'text', 'optional'),
    ('set_limits', 'max_tasks', 'bigint', 'value'),
    ('set_limits', 'max_bytes', 'bigint', 'value'),
    ('set_limits', 'reason', 'text', 'optional'),
    ('set_tenant', 'tenant', 'text', 'value'),
    ('set_tenant', 'max_tasks', 'bigint', 'value'),
    ('set_tenant', 'max_bytes', 'bigint', 'value'),
    ('set_tenant', 'weight', 'int', 'value'),
    ('set_tenant', 'reason', 'text', 'optional'),
    ('define_kind', 'name', 'text', 'value'),
    ('define_kind', 'queue', 'text', 'optional'),
    ('define_kind', 'channels', 'texts', 'optional'),
    ('define_kind', 'routing', 'text', 'optional'),
    ('define_kind', 'max_attempts', 'int', 'optional'),
    ('define_kind', 'lease', 'interval', 'optional'),
    ('define_kind', 'timeout', 'interval', 'optional'),
    ('define_kind', 'backoff_base', 'interval', 'optional'),
    ('define_kind', 'backoff_cap', 'interval', 'optional'),
    ('define_kind', 'backoff_jitter', 'number', 'optional'),
    ('define_kind', 'exhaustion', 'text', 'optional'),
    ('define_kind', 'reason', 'text', 'optional'),
    ('define_channel', 'name', 'text', 'value'),
    ('define_channel', 'contract', 'text', 'value'),
    ('define_channel', 'timeout', 'interval', 'optional'),
    ('define_channel', 'settle', 'interval', 'optional'),
    ('define_channel', 'key_retention', 'interval', 'optional'),
    ('define_channel', 'reason', 'text', 'optional'),
    ('set_preference', 'tenant', 'text', 'value'),
    ('set_preference', 'subject', 'text', 'value'),
    ('set_preference', 'channel', 'text', 'value'),
    ('set_preference', 'address', 'text', 'null'),
    ('set_preference', 'enabled', 'flag', 'value'),
    ('set_preference', 'version', 'bigint', 'optional'),
    ('set_preference', 'reason', 'text', 'optional'),
    ('move_position', 'topic_id', 'uuid', 'value'),
    ('move_position', 'partition', 'int', 'value'),
    ('move_position', 'expected', 'bigint', 'value'),
    ('move_position', 'position', 'bigint', 'value'),
    ('move_position', 'reason', 'text', 'optional'),
    ('retire', 'limit', 'int', 'value'),
    ('retire', 'reason', 'text', 'optional')
  ) p(command, name, shape, need)
  where p.command = p_type;
$$;
revoke all on function escapement.command_parameters from public;

-- The arguments in a command's data, as text by name (an array: as one), each of which can be cast
-- to its parameter's type. Whatever is wrong is an error 22023 that says where.
--
-- Internal: granted to nobody.
create or replace function escapement.command_arguments(p_type text, p_data text) returns jsonb
language plpgsql stable security definer set search_path = escapement, pg_temp
  set intervalstyle = 'postgres'
as $$
declare
  c_time constant text :=
    '^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$';
  v_json json;
  v_names text[];
  v_name text;
  v_parameter record;
  v_type text;
  v_text text;
  v_fits boolean;
  v_where text;
  v_arguments jsonb := '{}';
begin
  if not exists (select from command_parameters(p_type)) then
    raise exception 'type: there is no command %', cut(p_type, 255) using errcode = '22023';
  end if;
  if p_data is null then
    raise exception 'data: missing' using errcode = '22023';
  end if;
  begin
    v_json := p_data::json;
    if json_typeof(v_json) <> 'object' then
      raise exception 'data: not a JSON object' using errcode = '22023';
    end if;
    v_names := array(select json_object_keys(v_json));
  exception
    when invalid_parameter_value then
      raise;
    when data_exception then
      get stacked diagnostics v_where = pg_exception_context; -- begins with the place in the text
      raise exception 'data: not JSON that can be read: % (%)', cut(sqlerrm, 400),
        cut(split_part(v_where, chr(10), 1), 400) using errcode = '22023';
    when program_limit_exceeded then
      raise exception 'data: nested too deeply' using errcode = '22023';
  end;
  foreach v_name in array v_names loop
    if not exists (select from command_parameters(p_type) p where p.name = v_name) then
      raise exception '%: % has no such argument', cut(v_name, 255), p_type
        using errcode = '22023';
    end if;
    if cardinality(array_positions(v_names, v_name)) > 1 then
      raise exception '%: given more than once', v_name using errcode = '22023';
    end if;
  end loop;

  for v_parameter in select * from command_parameters(p_type) loop
    v_type := json_typeof(v_json -> v_parameter.name);
    if v_type is null and v_parameter.need <> 'optional'
       or v_type = 'null' and v_parameter.need = 'value' then
      raise exception '%: missing', v_parameter.name using errcode = '22023';
    end if;
    continue when v_type is null or v_type = 'null';
    begin
      v_text := v_json ->> v_parameter.name;
      v_fits := case v_parameter.shape
        when 'text' then v_type = 'string'
        when 'bigint' then v_type = 'number' and v_text::bigint is not null
        when 'int' then v_type = 'number' and v_text::int is not null
        when 'number' then v_type = 'number' and v_text::double precision is not null
        when 'flag' then v_type = 'boolean'
        when 'interval' then v_type = 'string' and v_text::interval is not null
        when 'time' then
          v_type = 'string' and v_text ~ c_time and v_text::timestamptz is not null
        when 'uuid' then v_type = 'string' and v_text::uuid is not null
        when 'texts' then v_type = 'array' and v_text::jsonb is not null and not exists (
          select from json_array_elements(v_json -> v_parameter.name) e
          where json_typeof(e) <> 'string')
      end;
    exception when data_exception or program_limit_exceeded then
      v_fits := false;
    end;
    if v_fits is not true then
      raise exception '%: not %', v_parameter.name, case v_parameter.shape
          when 'text' then 'a string that can be stored'
          when 'bigint' then 'a whole number, or too large'
          when 'int' then 'a whole number, or too large'
          when 'number' then 'a number, or too large'
          when 'flag' then 'true or false'
          when 'interval' then 'a length of time like "30 seconds" or "PT30S"'
          when 'time' then 'a time like "2026-01-31T12:00:00Z"'
          when 'uuid' then 'a UUID'
          when 'texts' then 'an array of strings that can be stored'
        end using errcode = '22023';
    end if;
    v_arguments := v_arguments || jsonb_build_object(v_parameter.name, v_text);
  end loop;
  return v_arguments;
end $$;
revoke all on function escapement.command_arguments from public;

-- Calls the operator function that a command names. A definition's arguments that are absent have
-- the function's own defaults, which can't be left to it where arguments are given by position.
--
-- Internal: granted to nobody.
create or replace function escapement.run_command(p_type text, p jsonb) returns void
language plpgsql security definer set search_path = escapement, pg_temp
  set intervalstyle = 'postgres'
as $$
begin
  case p_type
    when 'cancel' then
      perform cancel(p ->> 'namespace', p ->> 'event_id', p ->> 'reason',
        coalesce((p ->> 'unstarted_only')::boolean, false));
    when 'quarantine' then
      perform quarantine((p ->> 'task')::bigint, p ->> 'reason');
    when 'redrive' then
      perform redrive((p ->> 'task')::bigint, (p ->> 'attempt')::int, p ->> 'reason');
    when 'redrive_all' then
      perform redrive_all(p ->> 'kind', p ->> 'channel', p ->> 'outcome', (p ->> 'limit')::int,
        p ->> 'reason');
    when 'reschedule' then
      perform reschedule((p ->> 'task')::bigint, (p ->> 'attempt')::int,
        (p ->> 'due')::timestamptz, p ->> 'reason');
    when 'resolve' then
      perform resolve((p ->> 'task')::bigint, p ->> 'resolution', p ->> 'note');
    when 'resolve_all' then
      perform resolve_all(p ->> 'resolution', p ->> 'kind', p ->> 'channel', p ->> 'outcome',
        (p ->> 'limit')::int, p ->> 'note');
    when 'pause' then
      perform pause(p ->> 'scope', p ->> 'name', p ->> 'reason');
    when 'resume' then
      perform resume(p ->> 'scope', p ->> 'name', p ->> 'reason');
    when 'set_limits' then
      perform set_limits((p ->> 'max_tasks')::bigint, (p ->> 'max_bytes')::bigint, p ->> 'reason');
    when 'set_tenant' then
      perform set_tenant(p ->> 'tenant', (p ->> 'max_tasks')::bigint,
        (p ->> 'max_bytes')::bigint, (p ->> 'weight')::int, p ->> 'reason');
    when 'define_kind' then
      perform define_kind(p ->> 'name',
        coalesce(p ->> 'queue', 'default'),
        case when p ? 'channels'
          then array(select jsonb_array_elements_text((p ->> 'channels')::jsonb))
          else '{local}' end,
        coalesce(p ->> 'routing', 'FIXED'),
        coalesce((p ->> 'max_attempts')::int, 5),
        coalesce((p ->> 'lease')::interval, '30 seconds'),
        coalesce((p ->> 'timeout')::interval, '10 minutes'),
        coalesce((p ->> 'backoff_base')::interval, '1 second'),
        coalesce((p ->> 'backoff_cap')::interval, '5 minutes'),
        coalesce((p ->> 'backoff_jitter')::double precision, 0.2),
        coalesce(p ->> 'exhaustion', 'FAILED'),
        p ->> 'reason');
    when 'define_channel' then
      perform define_channel(p ->> 'name', p ->> 'contract', (p ->> 'timeout')::interval,
        (p ->> 'settle')::interval, (p ->> 'key_retention')::interval, p ->> 'reason');
    when 'set_preference' then
      perform set_preference(p ->> 'tenant', p ->> 'subject', p ->> 'channel', p ->> 'address',
        (p ->> 'enabled')::boolean, (p ->> 'version')::bigint, p ->> 'reason');
    when 'move_position' then
      perform move_position((p ->> 'topic_id')::uuid, (p ->> 'partition')::int,
        (p ->> 'expected')::bigint, (p ->> 'position')::bigint, p ->> 'reason');
    when 'retire' then
      perform retire((p ->> 'limit')::int, p ->> 'reason');
  end case;
end $$;
revoke all on function escapement.run_command from public;

-- Executes one record of the commands topic: fence, the operator function that it names, its
-- receipt, in one transaction. Exactly one receipt a record.
--
-- 'executed': the function was called, and results says what it wrote down, a target each.
-- 'replay': this source has had this very command executed before; nothing was done, and results
-- are those of that time. 'invalid': nothing was done; reason names the argument. 'oversize'.
-- 'fenced': the position has another owner now; nothing was done, and there is no receipt. 'passed':
-- there was no record (p_offset is null), only the position moved.
--
-- What the record can be blamed for is an answer. What it can't (locks, connections, resources) is
-- an error that undoes everything, and the same call may work later.
--
-- Locks: the position; the source and id; then those of the operator function.
create or replace function escapement.command(
  p_topic text, p_topic_id uuid, p_partition int, p_expected bigint, p_next bigint,
  -- the record; one with p_refused is decided already
  p_offset bigint, p_refused text, p_reason text, p_source text, p_event_id text, p_type text,
  p_data text, p_value bytea, p_envelope bytea)
returns table (decision text, reason text, targets text[], results text[])
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  c_control constant text := '[\u0001-\u001f\u007f-\u009f]';
  c_identity constant int := 1129270605; -- a class of advisory locks of its own
  v_max_bytes constant int := (select max_payload_bytes from ledger);
  v_decision text := p_refused;
  v_reason text := p_reason;
  v_arguments jsonb;
  v_digest bytea;
  v_same boolean;
  v_targets text[] := '{}';
  v_results text[] := '{}';
  v_state text;
begin
  if p_refused not in ('invalid', 'oversize') or p_next < p_expected then
    raise exception 'escapement: command was called with a decision or a position that can''t be'
      using errcode = 'ES002';
  end if;
  if cardinality(advance_positions(array[p_topic], array[p_topic_id], array[p_partition],
      array[p_expected], array[p_next])) > 0 then
    return query select 'fenced', null::text, v_targets, v_results;
    return;
  end if;
  if p_offset is null then
    return query select 'passed', null::text, v_targets, v_results;
    return;
  end if;

  if v_decision is null then
    v_reason := case
      when p_source ~ c_control then 'source: has control characters'
      when p_event_id ~ c_control then 'id: has control characters'
      when coalesce(octet_length(p_source), 0) not between 1 and 1024
        then 'source: must have 1 to 1024 bytes'
      when coalesce(octet_length(p_event_id), 0) not between 1 and 512
        then 'id: must have 1 to 512 bytes'
      when starts_with(p_source, 'escapement:') then 'source: must not begin with escapement:'
      when p_type is null then 'type: missing'
    end;
    v_decision := case
      when v_reason is not null then 'invalid'
      when octet_length(p_value) > v_max_bytes then 'oversize'
    end;
  end if;

  if v_decision is null then
    -- The same command on another partition waits here, and is a replay afterwards.
    perform pg_advisory_xact_lock(c_identity, hashtext(p_source || chr(1) || p_event_id));
    begin
      v_arguments := command_arguments(p_type, p_data);
      v_digest := sha256(convert_to(p_type || v_arguments::text, 'UTF8'));
      v_same := (
        select a.event_digest is not distinct from v_digest from operator_action a
        where a.source = p_source and a.event_id = p_event_id limit 1);
      if v_same is null then
        perform set_config('escapement.command_source', p_source, true),
          set_config('escapement.command_id', p_event_id, true),
          set_config('escapement.command_digest', encode(v_digest, 'hex'), true);
        perform run_command(p_type, v_arguments);
        v_decision := 'executed';
      elsif v_same then
        v_decision := 'replay';
      else
        raise exception 'id: this source has used it for another command' using errcode = '22023';
      end if;
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate;
      if left(v_state, 2) not in ('22', '23', '54', 'P0', 'ES') then
        raise;
      end if;
      v_decision := 'invalid';
      v_reason := sqlerrm;
    end;
    perform set_config('escapement.command_source', '', true),
      set_config('escapement.command_id', '', true),
      set_config('escapement.command_digest', '', true);
    if v_decision <> 'invalid' then
      select array_agg(a.target order by a.id), array_agg(a.result order by a.id)
        into v_targets, v_results
      from operator_action a where a.source = p_source and a.event_id = p_event_id;
    end if;
  end if;

  v_reason := cut(v_reason, 4096);
  insert into outbox (events)
  values (concat_ws(chr(10),
    concat_ws(chr(9), 'C', v_decision, field(p_topic), p_partition, p_offset, field(p_type),
      field(p_source), field(p_event_id), field(v_reason), cardinality(v_targets),
      (select string_agg(field(t) || chr(9) || field(r), chr(9) order by ord)
       from unnest(v_targets, v_results) with ordinality u(t, r, ord))),
    case when v_decision = 'invalid' then
      concat_ws(chr(9), 'X', field(p_topic), p_partition, p_offset, field(v_reason),
        translate(encode(p_envelope, 'base64'), chr(10), ''),
        case when p_value is null or octet_length(p_value) > v_max_bytes
          then '\N' else translate(encode(p_value, 'base64'), chr(10), '') end,
        case when octet_length(p_value) > v_max_bytes then 'withheld' else 'whole' end)
    end));
  return query select v_decision, v_reason, v_targets, v_results;
end $$;
revoke all on function escapement.command from public;
grant execute on function escapement.command to escapement_operator;
