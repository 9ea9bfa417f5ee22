"""An event loop that plays a network job by job: a score, a state, and the loop in C or Python."""
