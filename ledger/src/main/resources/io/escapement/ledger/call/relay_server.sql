select current_setting('wal_level') as wal_level,
       pg_is_in_recovery() as standby,
       current_setting('max_slot_wal_keep_size') as max_slot_wal_keep_size,
       exists (select from pg_publication where pubname = 'escapement_outbox') as published,
       exists (select from pg_roles where rolname = 'escapement_relay') as role_exists,
       case when to_regrole('escapement_relay') is null then false
            else pg_has_role(session_user, 'escapement_relay', 'member') end as member
