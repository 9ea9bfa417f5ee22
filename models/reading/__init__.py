"""Files as users have them: collected, recognised by content, and read into points."""
