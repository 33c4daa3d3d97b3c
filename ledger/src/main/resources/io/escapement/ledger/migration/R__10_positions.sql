-- The positions of some partitions; where ingest resumes.
create or replace function escapement.positions(p_topic_ids uuid[], p_partitions int[])
returns table (topic_id uuid, partition int, "position" bigint)
language sql stable security definer set search_path = escapement, pg_temp as $$
  select p.topic_id, p.partition, p.position
  from unnest(p_topic_ids, p_partitions) u(topic_id, partition)
    join ingest_position p using (topic_id, partition);
$$;
revoke all on function escapement.positions from public;
grant execute on function escapement.positions to escapement_ingest, escapement_operator;
