select format('create database %I', ?::text)
