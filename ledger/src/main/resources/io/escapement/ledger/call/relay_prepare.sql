-- The server notices a leader that is gone or does not move: its host is dead (keepalive), or the
-- process is stopped (no statement for too long). Either way the session ends and its advisory
-- lock is free.
select set_config('tcp_keepalives_idle', '2', false),
       set_config('tcp_keepalives_interval', '1', false),
       set_config('tcp_keepalives_count', '3', false),
       set_config('tcp_user_timeout', ?, false),
       set_config('idle_session_timeout', ?, false),
       set_config('statement_timeout', ?, false),
       set_config('lock_timeout', ?, false),
       set_config('role', 'escapement_relay', false)
