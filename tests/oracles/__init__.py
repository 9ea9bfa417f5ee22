"""Independent sources of truth: chains, simulators and published numbers; none is a test."""
