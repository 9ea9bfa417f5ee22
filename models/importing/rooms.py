"""Stations of JSIMg files with limited room, and what happens to further jobs."""

from collections.abc import Iterable, Mapping, Sequence

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.network import ForeignClass, ForeignStation
from headway.models.importing.sections import PASSED, SOURCE, Section


def check_blocking_rooms(
    stations: Iterable[ForeignStation],
    boxes: Mapping[str, Section],
    links: Mapping[str, Sequence[str]],
    classes: Sequence[ForeignClass],
    source: str,
) -> None:
    """Refuse blocking stations that headway would treat differently.

    Parameters
    ----------
    stations, classes, source
        Stations and classes of the file, and its name for messages.
    boxes, links
        Boxes by name, and the targets of their connections.

    Raises
    ------
    ModelFileError
        For several classes, jobs that do not come from a station, and disciplines that blocking
        affects.
    """
    stations = tuple(stations)
    for blocking in (station for station in stations if station.blocking):
        place = f"{source}: {blocking.name}: it blocks jobs when full"
        if len(classes) > 1:
            msg = f"{place}, which is not supported for several classes; use one"
            raise ModelFileError(msg)
        for name, targets in links.items():
            if blocking.name in targets and boxes[name].role in (SOURCE, PASSED):
                msg = (
                    f"{place}, but they come from {quoted(name)}, which is not a station with "
                    "a service time"
                )
                raise ModelFileError(msg)
        for station in stations:
            if not station.in_turn:
                msg = (
                    f"{place}, which is supported only if {station.name} serves in order of arrival"
                )
                raise ModelFileError(msg)
