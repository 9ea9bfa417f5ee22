"""How many jobs are at a station by itself, and what whoever comes finds there: laws."""
