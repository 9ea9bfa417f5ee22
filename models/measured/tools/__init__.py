"""What tools wrote: one file a family of load generators, benchmarks and monitors."""
