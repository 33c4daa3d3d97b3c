-- A dead relay's connection may be believed alive for a while, and a slot in use keeps a database.
select count(pg_terminate_backend(active_pid))
from pg_replication_slots
where database = ? and active_pid is not null
