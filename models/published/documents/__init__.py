"""One file per document: its tables, cell by cell."""
