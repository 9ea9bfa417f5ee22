"""Stations in order without a product form, and the words for them."""

from collections.abc import Sequence

from headway.records import dataclass


@dataclass(frozen=True)
class OrderedStations:
    """Names of stations that serve in order of arrival, and of those that do in random order."""

    in_order: tuple[str, ...] = ()
    at_random: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.in_order or self.at_random)


def different_times(at: OrderedStations | Sequence[str], *, spread: bool = False) -> str:
    """Words for stations in order without a product form; plain names are in order of arrival.

    Examples
    --------
    >>> different_times(OrderedStations(("cpu",), ("disk",)))
    'cpu: first come first served, disk: served in random order, with times that differ by class'
    """
    turns = at if isinstance(at, OrderedStations) else OrderedStations(tuple(at))
    parts = [
        f"{', '.join(names)}: {word}"
        for names, word in (
            (turns.in_order, "first come first served"),
            (turns.at_random, "served in random order"),
        )
        if names
    ]
    other = " or are not exponential" if spread else ""
    comma = "," if len(parts) > 1 else ""
    return f"{', '.join(parts)}{comma} with times that differ by class{other}"
