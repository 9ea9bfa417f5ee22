"""Networks with disciplines that have no product form, by approximate mean value analysis."""
