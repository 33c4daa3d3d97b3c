-- So many ids in a row; the first of them. The sequence hands out its numbers to a session in
-- blocks of 32: a draw that straddles two blocks is thrown away, and the next one is in a row.
--
-- Internal: granted to nobody.
create or replace function escapement.task_ids(p_count int) returns bigint
language plpgsql set search_path = escapement, pg_temp as $$
declare
  v_first bigint;
  v_last bigint;
begin
  loop
    v_first := nextval('task_id');
    v_last := v_first;
    for i in 2 .. p_count loop
      v_last := nextval('task_id');
    end loop;
    if v_last = v_first + p_count - 1 then
      return v_first;
    end if;
  end loop;
end $$;
revoke all on function escapement.task_ids from public;

-- The name space of notifications: a recipient of a tenant. Percent signs and slashes of the tenant
-- are encoded, so that no two pairs share a name.
--
-- Internal: granted to nobody.
create or replace function escapement.recipient(tenant text, subject text) returns text
language sql immutable parallel safe
return 'escapement:' || replace(replace(tenant, '%', '%25'), '/', '%2F') || '/' || subject;
revoke all on function escapement.recipient from public;
