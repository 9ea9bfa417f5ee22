"""How answers to targets are shown: what they take, sizes, and when what is full."""
