vacuum (analyze)
