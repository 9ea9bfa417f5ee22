"""All kinds of station by name, and how each serves job by job."""
