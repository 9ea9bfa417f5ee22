"""Programs on the machine: what communication costs them."""
