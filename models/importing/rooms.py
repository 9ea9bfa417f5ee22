"""Stations of JSIMg files with room for so many jobs, and what becomes of the others."""

from collections.abc import Iterable, Mapping, Sequence

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.network import JobClass, Station
from headway.models.importing.sections import PASSED, SOURCE, Box
from headway.queueing.stations.abilities import Discipline


def check_held_up(
    stations: Iterable[Station],
    boxes: Mapping[str, Box],
    links: Mapping[str, Sequence[str]],
    classes: Sequence[JobClass],
    source: str,
) -> None:
    """Refuse full stations that hold jobs up where headway would do something else.

    Parameters
    ----------
    stations, classes, source
        Those of the file, and its name for messages.
    boxes, links
        By name, and where the connections of each lead.

    Raises
    ------
    ModelFileError
        For several classes, jobs that come from no station, and orders that blocked servers change.
    """
    stations = tuple(stations)
    for held in (station for station in stations if station.blocking):
        place = f"{source}: {held.name}: blocks those who find it full"
        if len(classes) > 1:
            msg = f"{place}, of several classes: not yet, but of one"
            raise ModelFileError(msg)
        for name, targets in links.items():
            if held.name in targets and boxes[name].role in (SOURCE, PASSED):
                msg = f"{place}, who come of {quoted(name)}, no station with a time: not yet"
                raise ModelFileError(msg)
        for station in stations:
            if station.order is not Discipline.FCFS or station.last_next:
                msg = f"{place}, and {station.name} is not in order of arrival: not yet"
                raise ModelFileError(msg)
