"""How variability goes through an open network: two moments of each flow and service."""
