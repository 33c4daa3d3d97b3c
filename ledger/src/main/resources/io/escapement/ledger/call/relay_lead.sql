-- One leader for each slot of a database.
select pg_try_advisory_lock(hashtext('escapement relay'), hashtext(?))
