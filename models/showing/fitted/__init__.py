"""What fits look like, of one model and of the forms of a server, and what they forecast."""
