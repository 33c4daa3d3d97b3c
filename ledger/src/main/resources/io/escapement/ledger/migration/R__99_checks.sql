-- Looks whether the rows from before hold to the checks that V3 added; reads the whole table beside
-- running work, once.
alter table escapement.task validate constraint waiting_has_due_and_tries;
alter table escapement.task validate constraint first_sent_iff_at_large;
