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
