-- Under the login itself: it may end its own backends, which the role may not.
select pg_terminate_backend(active_pid)
from pg_replication_slots
where slot_name = ? and active_pid is not null
