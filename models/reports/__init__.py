"""Reports: one page with all that is known about a model and the data it is compared with."""
