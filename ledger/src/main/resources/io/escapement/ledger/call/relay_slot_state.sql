select plugin, database, active_pid, confirmed, written, retained_bytes, unusable,
       current_database() as here
from escapement.slot_state(?)
