-- By the database's clock, both: an attempt keeps the due time that its task had. The least is that
-- of every attempt there is, the others are of those that count.
select count(*) filter (where counts), min(millis),
       percentile_disc(0.5) within group (order by millis) filter (where counts),
       percentile_disc(0.99) within group (order by millis) filter (where counts),
       max(millis) filter (where counts)
from (
  select (extract(epoch from a.claimed_at - a.due_at) * 1000)::float8 as millis,
         a.due_at >= ? and a.number = 1 and t.state = 'DONE' as counts
  from escapement.attempt a join escapement.task t on t.id = a.task_id
) a
