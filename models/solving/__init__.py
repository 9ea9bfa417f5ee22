"""What a model says: solutions, open, closed and in classes."""
