"""How long a job takes through a closed network, as it finds the others."""
