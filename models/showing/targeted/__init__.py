"""How answers to targets are shown: the value needed, sizes, and when resources saturate."""
