select escapement.define_channel(?, ?, ? * interval '1 millisecond',
  ? * interval '1 millisecond', ? * interval '1 millisecond', ?)
