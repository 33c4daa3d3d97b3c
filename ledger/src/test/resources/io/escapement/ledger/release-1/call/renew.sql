select answer from escapement.renew(?, ?)
