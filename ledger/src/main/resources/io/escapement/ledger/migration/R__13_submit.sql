-- One request from SQL: decided like a record of a requests topic, with its answer instead of a
-- receipt. Times that are null: due now, never worthless, issued now. Say p_issued, and the same
-- on every retry, if the answer may get lost.
create or replace function escapement.submit(p_source text, p_id text, p_tenant text, p_kind text,
  p_value bytea, p_subject text default null, p_due timestamptz default null,
  p_expires timestamptz default null, p_max_attempts int default null,
  p_issued timestamptz default null, p_content_type text default null)
returns table (decision text, reason text)
language sql security definer set search_path = escapement, pg_temp as $$
  select * from admit('{}', '{}', '{}', '{}', '{}',
    array[null::int], array[null::bigint], array[null::text], array[null::text],
    array[p_source], array[p_id], array[p_tenant], array[p_kind], array[p_subject],
    array[(extract(epoch from coalesce(p_issued, now())) * 1000000)::bigint],
    array[(extract(epoch from p_due) * 1000000)::bigint],
    array[(extract(epoch from p_expires) * 1000000)::bigint],
    array[p_max_attempts], array[p_content_type], array[p_value], array[null::bytea]);
$$;
revoke all on function escapement.submit from public;
grant execute on function escapement.submit to escapement_ingest, escapement_operator;
