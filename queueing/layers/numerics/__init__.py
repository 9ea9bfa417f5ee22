"""Mathematics of layers that knows nothing of them: fixed points, cuts, and one station."""
