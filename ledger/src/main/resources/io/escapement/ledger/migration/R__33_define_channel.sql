-- Defines who executes tasks, and what it promises; or changes it. The contract can't change: tasks
-- may have been left unknown by it.
--
-- p_timeout: how long a call may take; shorter than the lease of every kind that uses the channel.
-- p_settle (QUERYABLE): how long after a call what it left can be found at the latest.
-- p_key_retention (IDEMPOTENT): how long after the first call a key is remembered; null: for ever.
create or replace function escapement.define_channel(p_name text, p_contract text,
  p_timeout interval default null, p_settle interval default null,
  p_key_retention interval default null, p_reason text default null)
returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_kind text;
  v_check text;
begin
  if p_name !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' then
    raise exception 'channel: a name has letters, digits, ".", "_" and "-", 1 to 100 of them'
      using errcode = '22023';
  end if;
  insert into channel as c (name, contract, timeout, settle, key_retention)
  values (p_name, p_contract, p_timeout, p_settle, p_key_retention)
  on conflict (name) do update
  set timeout = excluded.timeout, settle = excluded.settle, key_retention = excluded.key_retention
  where c.contract = excluded.contract;
  if not found then
    raise exception 'channel %: its contract can''t change', p_name using errcode = '22023';
  end if;
  select name into v_kind from kind where p_name = any(channels) and lease <= p_timeout limit 1;
  if found then
    raise exception 'channel %: the timeout % must be shorter than the lease of kind %', p_name,
      p_timeout, v_kind using errcode = '22023';
  end if;
  perform record_action('define_channel', p_name, p_reason, 'DEFINED');
exception when check_violation then
  get stacked diagnostics v_check = constraint_name;
  raise exception 'channel %: not as it must be: %', p_name, (
    select pg_get_constraintdef(oid) from pg_constraint
    where conrelid = 'channel'::regclass and conname = v_check) using errcode = '22023';
end $$;
revoke all on function escapement.define_channel from public;
grant execute on function escapement.define_channel to escapement_operator;
