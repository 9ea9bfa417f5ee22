"""How many jobs are at the stations of a network with a product form, by chances."""
