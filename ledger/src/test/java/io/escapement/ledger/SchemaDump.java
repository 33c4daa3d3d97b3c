package io.escapement.ledger;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Writes down a database's ledger schema, from the catalogs: one text, the same on every version of
 * PostgreSQL that the ledger runs on, and the same however the schema came about.
 *
 * <p>It is to be read and compared, not to be run. What differs by version is left out or
 * normalised: not-null constraints stand at their columns, and the queries of views are written
 * without the names of the tables before the columns. Of a function there is its signature and how
 * it runs; the body stands in its migration, here is a hash of it.
 */
final class SchemaDump {

  private static final String HEADER =
      """
      -- The ledger's schema as the migrations make it. Generated; to be read and compared, not run.
      -- After a change of the schema:
      --   mvn -pl escapement/embedded,ledger test -Dtest=SchemaDumpPostgresTest \\
      --     -Dsurefire.failIfNoSpecifiedTests=false -Dschema.write=true
      """;

  /** Names and grants of a relation, from {@code pg_class c}. */
  private static final String GRANTS =
      """
      coalesce((
        select string_agg(format(E'grant %s to %s\\n', g.privileges, g.grantee), ''
                          order by g.grantee)
        from (
          select case when a.grantee = 0 then 'PUBLIC' else a.grantee::regrole::text end as grantee,
                 string_agg(lower(a.privilege_type), ', ' order by a.privilege_type) as privileges
          from aclexplode(c.relacl) a where a.grantee <> c.relowner group by a.grantee
          union all
          select a.grantee::regrole::text,
                 string_agg(lower(a.privilege_type) || ' (' || t.attname || ')', ', '
                            order by a.privilege_type, t.attname)
          from pg_attribute t cross join lateral aclexplode(t.attacl) a
          where t.attrelid = c.oid group by a.grantee
        ) g), '')
      """;

  private static final String COMMENTS =
      """
      coalesce((
        select string_agg(format(E'comment %s%s\\n',
                 coalesce((select attname || ': ' from pg_attribute
                           where attrelid = c.oid and attnum = d.objsubid and d.objsubid > 0), ''),
                 d.description), '' order by d.objsubid)
        from pg_description d where d.classoid = 'pg_class'::regclass and d.objoid = c.oid), '')
      """;

  private static final String SCHEMA =
      """
      select format(E'schema escapement\\n%s', (
        select string_agg(format(E'grant %s to %s\\n', g.privileges, g.grantee), ''
                          order by g.grantee)
        from (
          select case when a.grantee = 0 then 'PUBLIC' else a.grantee::regrole::text end as grantee,
                 string_agg(lower(a.privilege_type), ', ' order by a.privilege_type) as privileges
          from aclexplode(n.nspacl) a where a.grantee <> n.nspowner group by a.grantee) g))
      from pg_namespace n where n.nspname = 'escapement'
      union all
      select 'default privileges: ' || d.defaclacl::text || chr(10) from pg_default_acl d
      where d.defaclnamespace = 'escapement'::regnamespace
      """;

  private static final String TYPES =
      """
      select format(E'type %s as enum (%s)\\n%s', t.oid::regtype,
        (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
         from pg_enum e where e.enumtypid = t.oid),
        case when t.typacl is not null then 'grants ' || t.typacl::text || chr(10) else '' end)
      from pg_type t
      where t.typnamespace = 'escapement'::regnamespace and t.typtype = 'e'
      order by t.typname collate "C"
      """;

  private static final String SEQUENCES =
      """
      select format(E'sequence %s as %s increment %s minvalue %s maxvalue %s start %s cache %s%s%s\\n',
               c.oid::regclass, format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax,
               s.seqstart, s.seqcache, case when s.seqcycle then ' cycle' else '' end,
               (select format(' owned by %s.%s', d.refobjid::regclass, a.attname)
                from pg_depend d
                  join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
                where d.classid = 'pg_class'::regclass and d.objid = c.oid
                  and d.deptype in ('a', 'i')))
             || %s
      from pg_class c join pg_sequence s on s.seqrelid = c.oid
      where c.relnamespace = 'escapement'::regnamespace
      order by c.relname collate "C"
      """;

  private static final String TABLES =
      """
      select format(E'table %s (\\n%s\\n)%s\\n', c.oid::regclass,
          (select string_agg(format('  %I %s%s%s%s%s', a.attname,
                    format_type(a.atttypid, a.atttypmod),
                    case when a.attstorage <> t.typstorage
                      then ' storage ' || a.attstorage::text else '' end,
                    case when a.attnotnull then ' not null' else '' end,
                    case a.attidentity when 'a' then ' generated always as identity'
                      when 'd' then ' generated by default as identity' else '' end,
                    coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')),
                    E',\\n' order by a.attnum)
           from pg_attribute a join pg_type t on t.oid = a.atttypid
             left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
          case when c.reloptions is not null
            then ' with (' || (select string_agg(o, ', ' order by o) from unnest(c.reloptions) o)
              || ')' else '' end)
        || case when c.relpersistence <> 'p' then E'not permanent\\n' else '' end
        || case when c.relreplident <> 'd' then 'replica identity ' || c.relreplident::text || chr(10)
             else '' end
        || case when c.relrowsecurity then E'row security\\n' else '' end
        || coalesce((
          select string_agg(format(E'constraint %s %s\\n', k.conname, pg_get_constraintdef(k.oid)),
                            '' order by k.conname collate "C")
          from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n'), '')
        || coalesce((
          select string_agg(pg_get_indexdef(i.indexrelid)
                     || case when i.indisvalid then '' else ' INVALID' end || chr(10),
                   '' order by pg_get_indexdef(i.indexrelid) collate "C")
          from pg_index i where i.indrelid = c.oid), '')
        || coalesce((
          select string_agg(pg_get_triggerdef(g.oid) || chr(10), '' order by g.tgname)
          from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal), '')
        || %s
      from pg_class c
      where c.relnamespace = 'escapement'::regnamespace and c.relkind in ('r', 'p')
        and c.relname <> 'flyway_schema_history'
      order by c.relname collate "C"
      """;

  private static final String VIEWS =
      """
      select format(E'view %s (\\n%s\\n)%s as\\n%s\\n', c.oid::regclass,
          (select string_agg(format('  %I %s', a.attname, format_type(a.atttypid, a.atttypmod)),
                    E',\\n' order by a.attnum)
           from pg_attribute a where a.attrelid = c.oid and a.attnum > 0),
          case when c.reloptions is not null then ' with ' || c.reloptions::text else '' end,
          regexp_replace(pg_get_viewdef(c.oid), '\\m[a-z_][a-z0-9_]*\\.', '', 'g'))
        || %s
      from pg_class c
      where c.relnamespace = 'escapement'::regnamespace and c.relkind in ('v', 'm')
      order by c.relname collate "C"
      """;

  private static final String FUNCTIONS =
      """
      select format(E'function %s(%s)\\n  returns %s\\n  language %s, %s, parallel %s%s%s%s%s%s\\n',
               p.oid::regproc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
               l.lanname,
               case p.provolatile when 'i' then 'immutable' when 's' then 'stable'
                 else 'volatile' end,
               case p.proparallel when 's' then 'safe' when 'r' then 'restricted'
                 else 'unsafe' end,
               case when p.proisstrict then ', strict' else '' end,
               case when p.proleakproof then ', leakproof' else '' end,
               case when p.prosecdef then ', security definer' else '' end,
               (select string_agg(E'\\n  set ' || s, '' order by s) from unnest(p.proconfig) s),
               case when p.prosqlbody is not null
                 then E'\\n  ' || regexp_replace(pg_get_function_sqlbody(p.oid), '\\s+', ' ', 'g')
                 else E'\\n  body ' || md5(p.prosrc) end)
        || coalesce((
          select string_agg(format(E'grant execute to %s\\n', g.grantee), '' order by g.grantee)
          from (
            select case when a.grantee = 0 then 'PUBLIC' else a.grantee::regrole::text end as grantee
            from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
            where a.grantee <> p.proowner) g), '')
        || coalesce((select 'comment ' || d.description || chr(10) from pg_description d
                     where d.classoid = 'pg_proc'::regclass and d.objoid = p.oid), '')
      from pg_proc p join pg_language l on l.oid = p.prolang
      where p.pronamespace = 'escapement'::regnamespace
      order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"
      """;

  private static final String PUBLICATIONS =
      """
      select format(E'publication %s%s publish %s of %s\\n', p.pubname,
               case when p.puballtables then ' for all tables' else '' end,
               concat_ws(', ', case when p.pubinsert then 'insert' end,
                 case when p.pubupdate then 'update' end, case when p.pubdelete then 'delete' end,
                 case when p.pubtruncate then 'truncate' end),
               (select string_agg(t.schemaname || '.' || t.tablename, ', '
                                  order by t.schemaname, t.tablename)
                from pg_publication_tables t where t.pubname = p.pubname))
      from pg_publication p order by p.pubname
      """;

  /** So that a kind of object which the above does not know can't slip in unseen. */
  private static final String OTHERS =
      """
      select pg_describe_object(d.classid, d.objid, d.objsubid) || chr(10)
      from pg_depend d
      where d.refclassid = 'pg_namespace'::regclass and d.refobjid = 'escapement'::regnamespace
        and not (d.classid = 'pg_class'::regclass and exists (
          select from pg_class c where c.oid = d.objid and c.relkind in ('r', 'p', 'v', 'm', 'S')))
        and not (d.classid = 'pg_type'::regclass and exists (
          select from pg_type t where t.oid = d.objid and t.typtype = 'e'))
        and d.classid <> 'pg_proc'::regclass
        and d.classid <> 'pg_default_acl'::regclass
      order by 1
      """;

  private SchemaDump() {}

  /** What it looks like now. */
  static String of(TestLedger db) throws SQLException {
    StringBuilder dump = new StringBuilder(HEADER);
    try (Connection connection = db.connection();
        Statement s = connection.createStatement()) {
      // Every name with its schema.
      s.execute("set search_path = ''");
      String rights = GRANTS + "|| " + COMMENTS;
      section(s, dump, SCHEMA);
      section(s, dump, TYPES);
      section(s, dump, SEQUENCES.replace("|| %s\n", "|| " + rights));
      section(s, dump, TABLES.replace("|| %s\n", "|| " + rights));
      section(s, dump, VIEWS.replace("|| %s\n", "|| " + rights));
      section(s, dump, FUNCTIONS);
      section(s, dump, PUBLICATIONS);
      section(s, dump, OTHERS);
    }
    return dump.toString();
  }

  private static void section(Statement s, StringBuilder dump, String query) throws SQLException {
    try (ResultSet rows = s.executeQuery(query)) {
      while (rows.next()) {
        dump.append('\n').append(rows.getString(1).stripTrailing()).append('\n');
      }
    }
  }
}
