"""Numbers of jobs at an isolated station, and waits before service: their distributions."""
