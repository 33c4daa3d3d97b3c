-- A table of the application's own, beside the ledger: the handler of demo.booking.close writes
-- it in the transaction that completes its task. Handlers run under the dispatcher's role.
create schema if not exists demo;
create table if not exists demo.closed_booking (
  task      bigint primary key,
  tenant    text not null,
  booking   bigint not null,
  closed_at timestamptz not null default clock_timestamp()
);
grant usage on schema demo to escapement_dispatcher;
grant insert, select on demo.closed_booking to escapement_dispatcher;
