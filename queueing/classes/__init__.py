"""Networks of several classes of customers: open, closed and mixed."""
