-- Says where a partition goes on whose position and log don't fit together: records before the new
-- position that were not decided are given up, records from it on that were decided before are
-- decided again. p_expected is the position that the caller has seen.
-- MOVED, STALE (it stands elsewhere now), NOT_FOUND.
create or replace function escapement.move_position(p_topic_id uuid, p_partition int,
  p_expected bigint, p_position bigint, p_reason text default null) returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_row ingest_position%rowtype;
  v_result text;
begin
  if p_position is null or p_position < 0 then
    raise exception 'position: must be the offset of the next record to decide, 0 or more'
      using errcode = '22023';
  end if;
  select * into v_row from ingest_position
    where topic_id = p_topic_id and partition = p_partition for update;
  v_result := case
    when not found then 'NOT_FOUND'
    when v_row.position is distinct from p_expected then 'STALE'
    else 'MOVED'
  end;
  if v_result = 'MOVED' then
    update ingest_position
    set position = p_position, updated_at = clock_timestamp(), held_since = null, held_for = null
    where topic_id = p_topic_id and partition = p_partition;
  end if;
  perform record_action('move_position',
    concat(v_row.topic, '-', p_partition, ' (topic id ', p_topic_id, '): ', p_expected, ' to ',
      p_position), p_reason, v_result);
  return v_result;
end $$;
revoke all on function escapement.move_position from public;
grant execute on function escapement.move_position to escapement_operator;
