select pg_logical_emit_message(true, 'escapement', 'heartbeat')::text
