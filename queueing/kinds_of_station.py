"""Kinds of station by name, as model files give them; a kind's module is loaded when used."""

from importlib import import_module

from headway.queueing.stations import Station

STATIONS = {
    "Delay": "stations",
    "MM1": "stations",
    "MMm": "stations",
    "MM1K": "finite",
    "MMmK": "finite",
    "MD1": "general",
    "MG1": "general",
    "GGm": "general",
    "LoadDependent": "dependent",
    "Parallel": "dependent",
}
"""Module that holds each kind."""


PRODUCT_FORM = frozenset({"Delay", "MM1", "MMm", "Parallel", "LoadDependent"})
"""Kinds that keep Poisson flows Poisson, and whose networks have a product form."""


def station_kind(name: str) -> type[Station]:
    """Find a kind of station by its name.

    Examples
    --------
    >>> station_kind("MM1").__name__
    'MM1'
    """
    kind: type[Station] = getattr(import_module(f"headway.queueing.{STATIONS[name]}"), name)
    return kind
