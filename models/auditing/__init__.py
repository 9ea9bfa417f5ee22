"""What can be wrong with a load test: each kind of finding, declared beside what looks for it."""
