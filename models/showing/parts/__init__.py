"""What else some stations say: how busy each of their servers is."""
