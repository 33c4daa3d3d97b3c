select count(distinct pid)
from pg_locks
where relation = 'escapement.ingest_position'::regclass and not granted
  and database = (select oid from pg_database where datname = current_database())
