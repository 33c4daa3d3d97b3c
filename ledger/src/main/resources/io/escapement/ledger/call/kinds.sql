select name, queue, channels, routing, max_attempts, lease_millis, timeout_millis,
  backoff_base_millis, backoff_cap_millis, backoff_jitter, exhaustion
from escapement.kinds order by name
