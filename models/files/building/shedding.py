"""Stations that shed load in a model file: the kind with limited places that they stand for."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.kinds import Amount
from headway.models.files.building.expressions import names_in
from headway.models.files.building.keys import RULE, SHED, SHEDS
from headway.models.files.building.places import KeyLines
from headway.models.files.building.schema import ModelEntry
from headway.models.files.building.shapes import Fault
from headway.models.language.formula import formula
from headway.queueing.stations.listed.kinds import LIMITED

_TERM = re.compile(r"[\w.]+")


def with_shedding(entry: ModelEntry, place: KeyLines) -> ModelEntry:
    """The entries with limited places, for stations that refuse arrivals by the jobs that wait.

    ``when queue > N`` refuses arrivals that find more than N jobs waiting: m + N + 1 places, with m
    servers; ``when queue >= N`` leaves m + N places.

    Parameters
    ----------
    entry, place
        The entries of a model file, and their places.

    Raises
    ------
    ModelFileError
        For anything but such a rule.
    """
    stations = {name: _limited(name, table, place) for name, table in entry.stations.items()}
    return entry._replace(stations=stations)


def _limited(name: str, table: Mapping[str, Any], place: KeyLines) -> Mapping[str, Any]:
    kind = str(table.get("kind"))
    servers = table.get("servers", 1 if kind == "MM1" else None)
    if SHED not in table or kind not in LIMITED or servers is None:
        return table
    try:
        rule = SHEDS.shape(table[SHED], ("stations", name, SHED))
    except Fault as fault:
        raise place.error(fault.what, *fault.keys) from None
    more, waiting = RULE.fullmatch(rule).groups()  # type: ignore[union-attr]
    with place("stations", name, SHED):
        most = formula(waiting)
    if not most.names and not _is_count(most.evaluate({})):
        msg = f"{waiting} jobs cannot wait; write a whole number of 0 or more"
        raise place.error(msg, "stations", name, SHED)
    given = {key: each for key, each in table.items() if key != SHED}
    places = _sum(servers, waiting, 1 if more == ">" else 0)
    return given | {"kind": LIMITED[kind], "capacity": places}


def _is_count(number: Amount) -> bool:
    return bool(number >= 0 and number == np.floor(number))


def _sum(servers: Any, waiting: str, more: int) -> float | str:
    """The places, as a number where the servers and the rule have none but numbers."""
    terms = (
        str(each) if _TERM.fullmatch(str(each)) else f"({each})" for each in (servers, waiting)
    )
    text = " + ".join([*terms, *(["1"] if more else [])])
    return text if names_in(text) else float(formula(text).evaluate({}))
