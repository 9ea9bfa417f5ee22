"""Kinds of station by name, as model files give them; a kind's module is loaded when used."""

from importlib import import_module

from headway.queueing.stations.base import Station

STATIONS = {
    "Delay": "headway.queueing.stations.base",
    "MM1": "headway.queueing.stations.base",
    "MMm": "headway.queueing.stations.base",
    "MM1K": "headway.queueing.stations.finite",
    "MMmK": "headway.queueing.stations.finite",
    "MD1": "headway.queueing.stations.general",
    "MG1": "headway.queueing.stations.general",
    "GGm": "headway.queueing.stations.general",
    "LoadDependent": "headway.queueing.stations.dependent",
    "Parallel": "headway.queueing.stations.dependent",
}
"""Module that holds each kind."""


def station_kind(name: str) -> type[Station]:
    """Find a kind of station by its name.

    Examples
    --------
    >>> station_kind("MM1").__name__
    'MM1'
    """
    kind: type[Station] = getattr(import_module(STATIONS[name]), name)
    return kind


def product_form_kinds(*, shared: bool = False) -> tuple[str, ...]:
    """Names of the kinds whose networks have a product form.

    Parameters
    ----------
    shared
        Only those that jobs of several classes can share.

    Examples
    --------
    >>> product_form_kinds(shared=True)
    ('Delay', 'MM1', 'MMm', 'Parallel')
    """
    kinds = {name: station_kind(name).can for name in STATIONS}
    return tuple(n for n, can in kinds.items() if can.product_form and (can.shared or not shared))
