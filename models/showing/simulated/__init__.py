"""What simulations, and checks against them, look like."""
