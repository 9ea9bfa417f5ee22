"""Model files: TOML read against a schema, and written."""
