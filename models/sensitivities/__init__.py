"""What each parameter does to each output, and what a target takes."""
