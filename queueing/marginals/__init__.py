"""Distributions of the number of jobs at stations of a network with a product form."""
