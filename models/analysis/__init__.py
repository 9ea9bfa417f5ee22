"""Questions about a solved model: comparison, sensitivity, targets, balance."""
