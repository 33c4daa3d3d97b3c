-- Reads the whole table beside running work.
alter table escapement.task validate constraint waiting_has_due_and_tries;
alter table escapement.task validate constraint first_sent_iff_at_large;
