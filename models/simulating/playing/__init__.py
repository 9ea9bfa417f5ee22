"""An event loop that plays a network job by job: a score, a state, and a loop in C or Python."""
