-- The fence of admission: moves every partition of a batch from the position that its consumer
-- knows to the position after the batch. Answers with the indices (from 1) of those that somebody
-- else has moved meanwhile; then nothing was moved at all.
--
-- Internal: granted to nobody.
create or replace function escapement.advance_positions(p_topics text[], p_topic_ids uuid[],
  p_partitions int[], p_expected bigint[], p_next bigint[]) returns int[]
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_fenced int[];
  v_new int;
begin
  perform from unnest(p_topic_ids, p_partitions) u(topic_id, partition)
    join ingest_position p using (topic_id, partition)
  order by p.topic_id, p.partition for update of p;

  select array_agg(u.ord order by u.ord) into v_fenced
  from unnest(p_topic_ids, p_partitions, p_expected) with ordinality
      u(topic_id, partition, expected, ord)
    left join ingest_position p using (topic_id, partition)
  where p.position is distinct from u.expected;
  if v_fenced is not null then
    return v_fenced;
  end if;

  update ingest_position p
  set position = u.next, updated_at = clock_timestamp()
  from unnest(p_topic_ids, p_partitions, p_expected, p_next) u(topic_id, partition, expected, next)
  where p.topic_id = u.topic_id and p.partition = u.partition and u.expected is not null;

  insert into ingest_position (topic_id, partition, topic, position)
  select u.topic_id, u.partition, u.topic, u.next
  from unnest(p_topics, p_topic_ids, p_partitions, p_expected, p_next)
    u(topic, topic_id, partition, expected, next)
  where u.expected is null
  order by u.topic_id, u.partition
  on conflict do nothing;
  get diagnostics v_new = row_count;
  if v_new <> (select count(*) from unnest(p_expected) e where e is null) then
    -- Somebody made the row between our look and our insert: undo, look again.
    raise exception 'escapement: a position appeared during admission' using errcode = '40001';
  end if;
  return '{}';
end $$;
revoke all on function escapement.advance_positions from public;
