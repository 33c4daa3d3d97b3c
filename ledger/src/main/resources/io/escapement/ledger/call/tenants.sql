select tenant, weight from escapement.tenants
