"""Networks in which a full station or a full region blocks the jobs that want to enter it."""
