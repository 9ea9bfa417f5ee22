"""States of layered systems: the events in a state, and the search for all states."""
