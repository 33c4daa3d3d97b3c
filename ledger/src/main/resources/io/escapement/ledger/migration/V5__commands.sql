-- What a command asked for, so that another one under the same source and id is not taken for it.
alter table escapement.operator_action add column event_digest bytea;
