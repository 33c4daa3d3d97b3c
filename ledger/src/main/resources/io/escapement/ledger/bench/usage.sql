-- Asked in another database, so that asking is no part of the answer. Statements are those that a
-- session in this role has sent; what functions run inside is not counted again.
select coalesce((
         select sum(s.calls)
         from pg_stat_statements s join pg_roles r on r.oid = s.userid
         where s.dbid = d.datid and r.rolname = ? and s.toplevel), 0),
       d.blks_hit + d.blks_read
from pg_stat_database d
where d.datname = ?
