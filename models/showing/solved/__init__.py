"""Further views of a solution: queue lengths, and the values that an imported file expects."""
