"""Models simulated job by job: a witness that uses no law of a queue."""
