"""Laws of response times of a model's jobs, and their percentiles."""
