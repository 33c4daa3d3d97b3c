select escapement.define_kind(?, ?, ?, ?, ? * interval '1 millisecond',
  ? * interval '1 millisecond', ? * interval '1 millisecond', ? * interval '1 millisecond', ?, ?, ?)
