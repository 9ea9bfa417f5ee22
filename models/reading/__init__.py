"""Files as people have them: gathered, recognised by content, and read into points."""
