"""What many tests share that is neither a test nor a source of truth."""
