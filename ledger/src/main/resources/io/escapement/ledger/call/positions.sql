select topic_id, partition, position from escapement.positions(?, ?)
