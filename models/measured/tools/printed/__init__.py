"""What load generators print by default, and people paste: text for a terminal."""
