"""Queueing: operational laws, Erlang's formulas, stations and networks of them."""

from headway.lazy import open_table, public_names

open_table("headway.methods", "headway.queueing.table:METHODS")

__getattr__, __dir__ = public_names(__name__, __file__)
