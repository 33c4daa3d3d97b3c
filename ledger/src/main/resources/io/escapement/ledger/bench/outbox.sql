insert into escapement.outbox (events) values (?)
