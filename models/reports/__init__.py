"""Reports: one page with all that is known of a model compared with data."""
