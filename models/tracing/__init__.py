"""A model of services from their traces: who calls whom, how long each works, and its threads."""
