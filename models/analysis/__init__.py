"""Questions about a model: comparison, sensitivity, targets, balance."""
