"""How many jobs are at each station of a solved network, and how long whoever comes there waits."""
