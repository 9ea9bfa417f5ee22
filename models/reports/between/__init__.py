"""Tables of solved points: where a model is solved, and how far off a page is between them."""
