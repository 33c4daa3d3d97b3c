select escapement.fold()
