"""States of layered systems as rows: what happens in one, and the search for all of them."""
