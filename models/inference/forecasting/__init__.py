"""What a fit says beyond its data: at other loads, and which of these to measure next."""
