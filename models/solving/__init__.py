"""Solutions of models: open, closed and with several classes."""
