select name, contract, timeout_millis, settle_millis, key_retention_millis
from escapement.channels order by name
