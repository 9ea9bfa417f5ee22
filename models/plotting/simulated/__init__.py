"""Figures of simulations, and of checks against them."""
