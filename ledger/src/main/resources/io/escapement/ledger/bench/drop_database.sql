select format('drop database if exists %I with (force)', ?::text)
