"""Finite-capacity regions of JSIMg files: stations that share a limit on their jobs."""

from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.network import ForeignClass, ForeignRegion, ForeignStation
from headway.models.importing.foreign.numbers import name_of, unique, whole

_PLAIN = {
    ("globalMemoryConstraint", "maxMemory"): "-1",
    ("classConstraint", "maxJobsPerClass"): "-1",
    ("classMemoryConstraint", "maxMemoryPerClass"): "-1",
    ("dropRules", "dropThisClass"): "false",
    ("classWeight", "weight"): "1",
    ("classSize", "size"): "1",
}
"""Parts of a region, with the values that let jobs wait outside in order of arrival."""

_OF_ALL, _OF_CLASS = ("globalConstraint", "maxJobs"), ("classConstraint", "maxJobsPerClass")
"""Limits on the number of jobs; of a single class, that of the class is one of all."""

_WEIGHT = "classWeight", "weight"  # who goes first, of several classes

_TAGS = {"regionNode", "globalConstraint", *(tag for tag, _ in _PLAIN)}


def read_regions(
    model: Element,
    stations: tuple[ForeignStation, ...],
    classes: tuple[ForeignClass, ...],
    source: str,
) -> tuple[ForeignRegion, ...]:
    """Read the regions of a model that limit only the number of their jobs.

    Parameters
    ----------
    model
        The element that contains them.
    stations, classes, source
        Stations and classes of the file, and its name for messages.

    Raises
    ------
    ModelFileError
        For a region that limits memory or one of several classes, loses jobs, or has several.
    """
    elements = list(model.iter("blockingRegion"))
    unique(map(name_of, elements), "regions", source)
    names = {station.name for station in stations}
    own = classes[0].name if len(classes) == 1 else None
    regions = [_region(each, names, own, f"{source}: region {name_of(each)}") for each in elements]
    limited = tuple(region for region in regions if region is not None)
    if limited and len(classes) > 1:
        msg = f"{source}: region {limited[0].name}: several classes are not supported; use one"
        raise ModelFileError(msg)
    return limited


def _region(element: Element, names: set[str], own: str | None, place: str) -> ForeignRegion | None:
    """One region; None if it has no limit."""
    _check_plain(element, own, place)
    limits = [
        whole(part.get(key), f"{place}: {key}", -1)
        for tag, key in (_OF_ALL, *([_OF_CLASS] if own is not None else []))
        for part in element.findall(tag)
        if part.get("jobClass", own) == own and part.get(key) is not None
    ]
    most = min((limit for limit in limits if limit >= 0), default=-1)
    members = tuple(each.get("nodeName", "") for each in element.findall("regionNode"))
    unknown = [name for name in members if name not in names]
    if unknown:
        msg = (
            f"{place}: {quoted(unknown[0])} is not a station with a service time; remove it "
            "from the region"
        )
        raise ModelFileError(msg)
    return ForeignRegion(name_of(element), members, most) if most >= 0 else None


def _check_plain(element: Element, own: str | None, place: str) -> None:
    """Refuse a region that does more than let jobs wait outside; a limit of the only class may."""
    for part in element:
        if part.tag not in _TAGS:
            msg = (
                f"{place}: {quoted(part.tag)} belongs to a newer version of JMT than headway "
                "supports"
            )
            raise ModelFileError(msg)
    for (tag, key), usual in _PLAIN.items():
        if own is not None and (tag, key) in (_OF_CLASS, _WEIGHT):
            continue
        for part in element.findall(tag):
            if part.get(key, usual) != usual:
                attribute = f"{tag} with {key} {quoted(part.get(key, ''))}"
                msg = f"{place}: {attribute} is not supported; limit the total number of jobs"
                raise ModelFileError(msg)
