"""Commands that look at many configurations."""
