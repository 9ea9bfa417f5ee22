"""Forks and joins of JSIMg files: parallel branches of a job, and the parts it waits for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.network import ForeignClass, ForeignStation, Serves
from headway.models.importing.foreign.numbers import number, whole
from headway.models.importing.foreign.parameters import ForeignParameter, by_class
from headway.models.importing.sections import JOIN, PASSED, Section

Links = Mapping[str, Sequence[str]]
Boxes = Mapping[str, Section]


def folded(
    boxes: Boxes, links: Links, classes: Sequence[ForeignClass], source: str
) -> tuple[Boxes, Links, tuple[ForeignStation, ...]]:
    """Merge each fork, its branches and its join into one box.

    Parameters
    ----------
    boxes, links
        Boxes by name, and the targets of their connections.
    classes, source
        Classes of the file, and its name for messages.

    Returns
    -------
    Boxes and links without branches and joins, and a station for each fork.

    Raises
    ------
    ModelFileError
        For forks of several classes, or with branches of more than one station.
    """
    joins = _forks_by_join(boxes, links, source)
    if not joins:
        return boxes, links, ()
    if len(classes) > 1:
        first = next(iter(joins.values())).name
        msg = f"{source}: {first}: a fork of several classes is not supported; use one class"
        raise ModelFileError(msg)
    folded_forks = tuple(
        _fork(joins[name], boxes[name], links, classes[0], source) for name in joins
    )
    inside = {*joins, *(branch for fork in folded_forks for branch in fork.branches)}
    if classes[0].reference in inside:
        msg = (
            f"{source}: class {classes[0].name}: a reference station inside a fork is not "
            "supported; use one outside"
        )
        raise ModelFileError(msg)
    kept = {name: box for name, box in boxes.items() if name not in inside}
    ways = {name: list(targets) for name, targets in links.items() if name not in inside}
    for join, fork in joins.items():
        router = {"Router": boxes[join].sections["Router"]}
        kept[fork.name] = replace(fork, sections={**fork.sections, **router})
        ways[fork.name] = list(links.get(join, ()))
    return kept, ways, folded_forks


def _forks_by_join(boxes: Boxes, links: Links, source: str) -> dict[str, Section]:
    """The fork of each join; refuses joins of no fork or of several."""
    forks = [box for box in boxes.values() if box.role == Serves.FORK]
    joins = {_join_of(fork, boxes, links, source): fork for fork in forks}
    for name, box in boxes.items():
        if box.role == JOIN and name not in joins:
            msg = f"{source}: {name} is a join, but no fork leads to it"
            raise ModelFileError(msg)
    if len(joins) < len(forks):
        msg = (
            f"{source}: {forks[0].name}: several forks with one join are not supported; give "
            "each fork its own join"
        )
        raise ModelFileError(msg)
    return joins


def check_branches(stations: Iterable[ForeignStation], source: str) -> None:
    """Refuse branches that do not serve in order of arrival, or whose delays vary.

    Raises
    ------
    ModelFileError
        Names the branch.
    """
    known = {station.name: station for station in stations}
    for fork in known.values():
        for branch in (known[name] for name in fork.branches):
            place = f"{source}: {branch.name}, a branch of {fork.name}"
            if not branch.times:
                msg = f"{place}: has no service time; give one"
                raise ModelFileError(msg)
            if not branch.in_turn:
                msg = f"{place}: only order of arrival is supported"
                raise ModelFileError(msg)
            varies = any(times.scv for times in branch.times.values())
            if branch.serves is Serves.AT_ONCE and varies:
                msg = (
                    f"{place}: a delay whose times are not constant is not supported; use "
                    "constant times"
                )
                raise ModelFileError(msg)


def _join_of(fork: Section, boxes: Boxes, links: Links, source: str) -> str:
    """The join that all branches of a fork lead to; each branch is a single station."""
    place, branches = f"{source}: {fork.name}", links.get(fork.name, ())
    for branch in branches:
        _check_branch(fork.name, boxes[branch], links, f"{place} forks to {branch}")
    ends = {end for branch in branches for end in links.get(branch, ())}
    if len(ends) != 1 or boxes[next(iter(ends))].role != JOIN:
        listed = ", ".join(sorted(ends)) or "nowhere"
        msg = (
            f"{place} is a fork whose branches lead to {listed}; headway supports branches of one "
            "station each that lead to one join"
        )
        raise ModelFileError(msg)
    join = ends.pop()
    come = {name for name, targets in links.items() if join in targets}
    if come != set(branches):
        other = min(come - set(branches))
        msg = (
            f"{source}: {join} also joins jobs from {other}, which is not a branch of "
            f"{fork.name}; remove that connection"
        )
        raise ModelFileError(msg)
    return join


def _check_branch(fork: str, box: Section, links: Links, place: str) -> None:
    """Refuse a branch that is not a station, or that other boxes lead to."""
    if box.role == Serves.FORK:
        msg = f"{place}, which is a fork itself; nested forks are not supported"
        raise ModelFileError(msg)
    if box.role not in set(Serves):
        what = "takes no time" if box.role == PASSED else "is not a station"
        msg = f"{place}, which {what}; give each branch a station"
        raise ModelFileError(msg)
    others = [name for name, targets in links.items() if box.name in targets and name != fork]
    if others:
        msg = f"{place}, to which {others[0]} leads too; only the fork may lead to its branches"
        raise ModelFileError(msg)


def _fork(
    fork: Section, join: Section, links: Links, job_class: ForeignClass, source: str
) -> ForeignStation:
    """The fork as a station."""
    branches, place = tuple(links[fork.name]), f"{source}: {fork.name}"
    _check_parts(fork, branches, job_class.name, place)
    needed = _needed(join, len(branches), job_class.name, f"{source}: {join.name}")
    if needed < len(branches) and job_class.population is not None:
        msg = (
            f"{source}: {join.name}: waits for {needed} of {len(branches)} parts of a closed "
            "class; headway supports only waiting for all of them"
        )
        raise ModelFileError(msg)
    return ForeignStation(fork.name, Serves.FORK, {}, branches=branches, needed=needed)


def _check_parts(fork: Section, branches: tuple[str, ...], job_class: str, place: str) -> None:
    """Refuse a fork that sends more or less than one part to each branch, or blocks jobs."""
    block = fork.find("Fork", "block")
    most = -1 if block is None else whole(block.value, f"{place}: block", -1)
    if most > 0:
        msg = f"{place}: a limit of {most} forked jobs (block) is not supported; remove it"
        raise ModelFileError(msg)
    simple = fork.find("Fork", "isSimplifiedFork")
    if simple is None or simple.value == "true":
        each = fork.find("Fork", "jobsPerLink")
        counts = dict.fromkeys(branches, 1 if each is None else whole(each.value, place))
    else:
        strategy = fork.find("Fork", "ForkStrategy")
        by = {} if strategy is None else by_class(strategy, (job_class,), place)
        counts = _counts(by.get(job_class), place)
    for branch in branches:
        count = counts.get(branch, 0)
        if count != 1:
            msg = (
                f"{place}: sends {count} parts at once to {branch}; headway supports one to "
                "each branch"
            )
            raise ModelFileError(msg)


def _counts(strategy: ForeignParameter | None, place: str) -> dict[str, int]:
    """Parts to each branch; refuses random numbers of parts."""
    kind = "" if strategy is None else strategy.kind
    listed = None if strategy is None else strategy.part("EmpiricalEntryArray")
    if kind != "ProbabilitiesFork" or listed is None:
        msg = (
            f"{place}: fork strategy {kind or 'none'} is not supported; send one part to each "
            "branch"
        )
        raise ModelFileError(msg)
    return dict(_parts_to(path, place) for _, path in listed.parts)


def _parts_to(path: ForeignParameter, place: str) -> tuple[str, int]:
    """A branch, and its number of parts; refuses a random one."""
    way, numbers = path.part("outUnitProbability"), path.part("JobsPerLinkDis")
    target = "" if way is None else way.text("stationName") or ""
    chances = [] if numbers is None else [entry for _, entry in numbers.parts]
    shares = [each.text("probability") for each in (way, *chances) if each is not None]
    if len(chances) != 1 or any(number(p, f"{place}: {quoted(target)}") != 1 for p in shares):
        msg = (
            f"{place}: a random number of parts to {quoted(target)} is not supported; send one part"
        )
        raise ModelFileError(msg)
    return target, whole(chances[0].text("numbers"), f"{place}: parts to {quoted(target)}")


def _needed(join: Section, branches: int, job_class: str, place: str) -> int:
    """Parts that a join waits for."""
    strategies = join.find("Join", "JoinStrategy")
    by = {} if strategies is None else by_class(strategies, (job_class,), place)
    strategy = by.get(job_class)
    if strategy is None:
        return branches
    if strategy.kind not in ("NormalJoin", "PartialJoin"):
        msg = f"{place}: join strategy {strategy.kind} is not supported; wait for a number of parts"
        raise ModelFileError(msg)
    number_of = strategy.text("numRequired")
    needed = -1 if number_of is None else whole(number_of, f"{place}: numRequired", -1)
    if needed <= 0:
        return branches
    if needed > branches or (strategy.kind == "NormalJoin" and needed < branches):
        msg = (
            f"{place}: waiting for {needed} of {branches} parts ({strategy.kind}) is not supported"
        )
        raise ModelFileError(msg)
    return needed
