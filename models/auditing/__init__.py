"""What can be wrong with a load test: each kind of finding, declared beside its check."""
