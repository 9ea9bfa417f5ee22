"""Queueing: operational laws, Erlang's formulas, stations and networks of them."""

from headway.lazy import public_names
from headway.queueing.methods.registry import open_table

open_table("headway.queueing.table:METHODS")

__getattr__, __dir__ = public_names(__name__, __file__)
