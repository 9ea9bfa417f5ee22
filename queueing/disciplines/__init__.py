"""Disciplines: the order in which a queue is served, one file each, and the table of them."""

import headway.queueing.disciplines.table  # noqa: F401 - `Discipline` finds by name what is there
