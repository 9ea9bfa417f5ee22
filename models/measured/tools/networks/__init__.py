"""What benchmarks of networks and of message passing wrote."""
