-- Marks the partitions that wait for room and sets them back to the record that waits; unmarks those
-- that went on. Internal: granted to nobody.
create or replace function escapement.hold_positions(p_topic_ids uuid[], p_partitions int[],
  p_at bigint[], p_for text[]) returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
begin
  update ingest_position p
  set position = coalesce(u.at, p.position),
      held_since = case when u.at is not null then coalesce(p.held_since, clock_timestamp()) end,
      held_for = case when u.at is not null then u.why end
  from unnest(p_topic_ids, p_partitions, p_at, p_for) u(topic_id, partition, at, why)
  where p.topic_id = u.topic_id and p.partition = u.partition
    and (u.at is not null or p.held_since is not null);
end $$;
revoke all on function escapement.hold_positions from public;
