"""Components with an algorithm behind them: what they take, and which answers formulas can use."""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Algorithm:
    """A kind of component of a model file.

    Parameters
    ----------
    module, name
        Class that does the work: made of the fields, it has a property for each part.
    lists
        Fields that hold a number a stage.
    fields
        Fields that hold one number.
    parts
        Answers that formulas can use, as ``NAME.part``.
    defaults
        Values of fields that may be left out.
    """

    module: str
    name: str
    lists: tuple[str, ...]
    fields: tuple[str, ...]
    parts: tuple[str, ...]
    defaults: tuple[tuple[str, float], ...] = ()

    @cached_property
    def kind(self) -> type:
        """The class, imported when it is first used."""
        found: Any = getattr(import_module(self.module), self.name)
        return found  # type: ignore[no-any-return]


ALGORITHMS = {
    "pipelines": Algorithm(
        "headway.loggp.machine.transfers",
        "PacketTransfer",
        ("occupancy", "gap_per_byte"),
        ("transfer", "packet"),
        (
            "total_time",
            "packets",
            "packet_time",
            "bottleneck_time",
            "bandwidth",
            "delivered_bandwidth",
            "bubbles",
            "best_packet",
            "best_time",
        ),
    ),
    "contention": Algorithm(
        "headway.loggp.programs.related",
        "BlockingRequests",
        (),
        ("work", "latency", "handler_time", "handler_scv"),
        ("cycle_time", "uncontended_time", "contention_time"),
        (("handler_scv", 1.0),),
    ),
}
"""Kinds by the table of a model file that brings them in."""
