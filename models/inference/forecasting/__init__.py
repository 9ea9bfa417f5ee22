"""What a fit says beyond its data: other loads, and which of them to measure next."""
