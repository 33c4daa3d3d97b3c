select distinct queue from escapement.kinds order by queue
