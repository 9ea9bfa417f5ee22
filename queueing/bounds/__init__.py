"""Bounds on throughputs and response times of networks, without solving them."""
