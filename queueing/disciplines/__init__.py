"""Queueing disciplines: a file for each, and the table of them."""

import headway.queueing.disciplines.table  # noqa: F401 - `Discipline` finds by name what is there
