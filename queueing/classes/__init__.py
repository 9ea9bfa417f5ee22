"""Networks of several classes of jobs: open, closed and mixed."""
