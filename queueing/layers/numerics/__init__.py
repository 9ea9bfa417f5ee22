"""Mathematics of layers that knows nothing of them: fixed points, and smallest cuts."""
