"""Forks and joins of JSIMg files: stations that a job goes to at once, and what it waits for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.network import JobClass, Serves, Station
from headway.models.importing.foreign.numbers import number, whole
from headway.models.importing.foreign.parameters import Entry, by_class
from headway.models.importing.sections import JOIN, PASSED, Box
from headway.queueing.stations.abilities import Discipline

Links = Mapping[str, Sequence[str]]
Boxes = Mapping[str, Box]


def folded(
    boxes: Boxes, links: Links, classes: Sequence[JobClass], source: str
) -> tuple[Boxes, Links, tuple[Station, ...]]:
    """Make one box of each fork, its branches and its join.

    Parameters
    ----------
    boxes, links
        By name, and where the connections of each lead.
    classes, source
        Those of the file, and its name for messages.

    Returns
    -------
    Boxes and links without branches and joins, and a station for each fork.

    Raises
    ------
    ModelFileError
        For forks of several classes, or whose branches are more than a station each.
    """
    forks = [box for box in boxes.values() if box.role == Serves.FORK]
    joins = {_join_of(fork, boxes, links, source): fork for fork in forks}
    for name, box in boxes.items():
        if box.role == JOIN and name not in joins:
            msg = f"{source}: {name} is a join, and no fork leads to it"
            raise ModelFileError(msg)
    if len(joins) < len(forks):
        msg = f"{source}: {forks[0].name}: several forks have one join: not yet; give each its own"
        raise ModelFileError(msg)
    if not forks:
        return boxes, links, ()
    if len(classes) > 1:
        msg = f"{source}: {forks[0].name}: a fork of several classes: not yet, but of one"
        raise ModelFileError(msg)
    found = tuple(_fork(joins[name], boxes[name], links, classes[0], source) for name in joins)
    inside = {*joins, *(branch for fork in found for branch in fork.branches)}
    if classes[0].reference in inside:
        msg = f"{source}: class {classes[0].name}: counted inside a fork: not yet"
        raise ModelFileError(msg)
    kept = {name: box for name, box in boxes.items() if name not in inside}
    ways = {name: list(targets) for name, targets in links.items() if name not in inside}
    for join, fork in joins.items():
        router = {"Router": boxes[join].sections["Router"]}
        kept[fork.name] = replace(fork, sections={**fork.sections, **router})
        ways[fork.name] = list(links.get(join, ()))
    return kept, ways, found


def check_branches(stations: Iterable[Station], source: str) -> None:
    """Refuse branches whose parts are not served in order, or whose delays vary.

    Raises
    ------
    ModelFileError
        With the branch.
    """
    known = {station.name: station for station in stations}
    for fork in known.values():
        for branch in (known[name] for name in fork.branches):
            place = f"{source}: {branch.name}, a branch of {fork.name}"
            if not branch.times:
                msg = f"{place}: has no service time"
                raise ModelFileError(msg)
            if branch.order is not Discipline.FCFS or branch.last_next:
                msg = f"{place}: not in order of arrival: not yet"
                raise ModelFileError(msg)
            varies = any(times.scv for times in branch.times.values())
            if branch.serves is Serves.AT_ONCE and varies:
                msg = f"{place}: a delay whose times are not constant: not yet"
                raise ModelFileError(msg)


def _join_of(fork: Box, boxes: Boxes, links: Links, source: str) -> str:
    """The join that all branches of a fork lead to; each branch is a station, for itself."""
    place, branches = f"{source}: {fork.name}", links.get(fork.name, ())
    for branch in branches:
        _check_branch(fork.name, boxes[branch], links, f"{place} forks to {branch}")
    ends = {end for branch in branches for end in links.get(branch, ())}
    if len(ends) != 1 or boxes[next(iter(ends))].role != JOIN:
        told = ", ".join(sorted(ends)) or "nowhere"
        msg = (
            f"{place} is a fork whose branches lead on to {told}: not yet; headway has branches of "
            "one station each that lead to one join"
        )
        raise ModelFileError(msg)
    join = ends.pop()
    come = {name for name, targets in links.items() if join in targets}
    if come != set(branches):
        other = min(come - set(branches))
        msg = f"{source}: {join} joins what comes of {other}, to which {fork.name} does not lead"
        raise ModelFileError(msg)
    return join


def _check_branch(fork: str, box: Box, links: Links, place: str) -> None:
    """Refuse what is no station, or one that others come to."""
    if box.role == Serves.FORK:
        msg = f"{place}, which forks again: not yet"
        raise ModelFileError(msg)
    if box.role not in set(Serves):
        what = "is passed in no time" if box.role == PASSED else "is no station"
        msg = f"{place}, which {what}: not yet; give each branch a station"
        raise ModelFileError(msg)
    others = [name for name, targets in links.items() if box.name in targets and name != fork]
    if others:
        msg = f"{place}, to which {others[0]} leads too: not yet"
        raise ModelFileError(msg)


def _fork(fork: Box, join: Box, links: Links, job_class: JobClass, source: str) -> Station:
    """The station that a fork is."""
    branches, place = tuple(links[fork.name]), f"{source}: {fork.name}"
    _check_parts(fork, branches, job_class.name, place)
    needed = _needed(join, len(branches), job_class.name, f"{source}: {join.name}")
    if needed < len(branches) and job_class.population is not None:
        msg = (
            f"{source}: {join.name}: waits for {needed} of {len(branches)} parts of a closed "
            "class: not yet; for all of them"
        )
        raise ModelFileError(msg)
    return Station(fork.name, Serves.FORK, {}, branches=branches, needed=needed)


def _check_parts(fork: Box, branches: tuple[str, ...], job_class: str, place: str) -> None:
    """Refuse a fork that sends more or less than one part to each branch, or holds jobs up."""
    block = fork.find("Fork", "block")
    most = -1 if block is None else whole(block.value, f"{place}: block", -1)
    if most > 0:
        msg = f"{place}: lets only {most} jobs fork at once (block): not yet"
        raise ModelFileError(msg)
    simple = fork.find("Fork", "isSimplifiedFork")
    if simple is None or simple.value == "true":
        each = fork.find("Fork", "jobsPerLink")
        counts = dict.fromkeys(branches, 1 if each is None else whole(each.value, place))
    else:
        told = fork.find("Fork", "ForkStrategy")
        by = {} if told is None else by_class(told, (job_class,), place)
        counts = _counts(by.get(job_class), place)
    for branch in branches:
        count = counts.get(branch, 0)
        if count != 1:
            msg = f"{place}: sends {count} parts at once to {branch}: not yet; one to each branch"
            raise ModelFileError(msg)


def _counts(strategy: Entry | None, place: str) -> dict[str, int]:
    """Parts to each branch; refuses numbers that are by chance."""
    kind = "" if strategy is None else strategy.kind
    listed = None if strategy is None else strategy.part("EmpiricalEntryArray")
    if kind != "ProbabilitiesFork" or listed is None:
        msg = f"{place}: its way to fork ({kind or 'none'}): not yet; headway sends a part to each"
        raise ModelFileError(msg)
    found: dict[str, int] = {}
    for _, path in listed.parts:
        way, numbers = path.part("outUnitProbability"), path.part("JobsPerLinkDis")
        target = "" if way is None else way.text("stationName") or ""
        chances = [] if numbers is None else [entry for _, entry in numbers.parts]
        shares = [each.text("probability") for each in (way, *chances) if each is not None]
        if len(chances) != 1 or any(number(p, f"{place}: {quoted(target)}") != 1 for p in shares):
            msg = f"{place}: how many parts go to {quoted(target)} is by chance: not yet"
            raise ModelFileError(msg)
        found[target] = whole(chances[0].text("numbers"), f"{place}: parts to {quoted(target)}")
    return found


def _needed(join: Box, branches: int, job_class: str, place: str) -> int:
    """Parts that a join waits for."""
    told = join.find("Join", "JoinStrategy")
    by = {} if told is None else by_class(told, (job_class,), place)
    strategy = by.get(job_class)
    if strategy is None:
        return branches
    if strategy.kind not in ("NormalJoin", "PartialJoin"):
        msg = f"{place}: its way to join ({strategy.kind}): not yet; headway waits for a number"
        raise ModelFileError(msg)
    number_of = strategy.text("numRequired")
    needed = -1 if number_of is None else whole(number_of, f"{place}: numRequired", -1)
    if needed <= 0:
        return branches
    if needed > branches or (strategy.kind == "NormalJoin" and needed < branches):
        msg = f"{place}: waits for {needed} of {branches} parts ({strategy.kind}): not yet"
        raise ModelFileError(msg)
    return needed
