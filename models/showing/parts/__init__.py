"""Further results of some stations, such as the utilisation of each of their servers."""
