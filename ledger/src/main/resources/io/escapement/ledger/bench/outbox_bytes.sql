select pg_total_relation_size('escapement.outbox')
