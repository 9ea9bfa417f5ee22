"""Terminal output of load generators, as people paste it."""
