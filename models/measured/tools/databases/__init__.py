"""What benchmarks of databases and caches wrote."""
