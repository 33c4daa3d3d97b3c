select escapement.clock()
