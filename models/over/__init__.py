"""Models over a day: a load and a capacity that follow time."""
