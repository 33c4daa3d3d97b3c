-- One field of an outbox line: as in COPY, \N for null, and backslash escapes for the characters
-- that separate fields and lines.
create or replace function escapement.field(value text) returns text
language sql immutable parallel safe
return case
  when value is null then '\N'
  when value ~ '[\\\t\n\r]' then
    replace(replace(replace(replace(value, '\', '\\'), chr(9), '\t'), chr(10), '\n'), chr(13), '\r')
  else value
end;
revoke all on function escapement.field from public;

-- Text from outside, cut to about so many bytes, with a mark where it was cut: recording a failure
-- must not fail.
create or replace function escapement.cut(value text, bytes int) returns text
language sql immutable parallel safe
return case
  when octet_length(value) <= bytes then value
  -- no character of UTF-8 is longer than 4 bytes
  else left(value, bytes / 4) || ' […]'
end;
revoke all on function escapement.cut from public;

-- An outcome event of the outbox.
create or replace function escapement.outcome_line(change text, task bigint, namespace text,
  event_id text, tenant text, kind text, channel text, attempt int, observation text, detail text,
  cancelled_too_late boolean) returns text
language sql stable parallel safe
return concat_ws(chr(9), 'O', change, task, escapement.field(namespace), escapement.field(event_id),
  escapement.field(tenant), escapement.field(kind), escapement.field(channel), attempt,
  escapement.field(observation), escapement.field(detail), cancelled_too_late);
revoke all on function escapement.outcome_line from public;
