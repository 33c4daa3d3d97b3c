select topic, partition, position, held_since, held_for
from escapement.ingest_positions where held_since is not null order by topic, partition
