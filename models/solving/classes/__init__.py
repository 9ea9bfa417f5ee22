"""Networks of several classes of jobs: solutions, closed forms and distributions of times."""
