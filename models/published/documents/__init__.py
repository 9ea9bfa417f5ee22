"""One file a document: its tables, cell by cell."""
