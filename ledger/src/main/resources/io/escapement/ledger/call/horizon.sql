select task_id, tenant, slot, wake_at, claimed, truncated
from escapement.horizon(?, ?, ?, ?, ?, ?, ?, ?)
