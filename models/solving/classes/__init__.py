"""Networks of several classes of jobs: solved, as closed forms, and their laws of time."""
