"""Commands that examine many configurations."""
