"""What load generators of HTTP wrote."""
