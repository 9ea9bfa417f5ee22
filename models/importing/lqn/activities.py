"""The graph of a task's activities in an LQNX file, written out as the flow of each entry."""

from collections.abc import Iterator
from typing import Protocol
from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, nearest, quoted
from headway.models.importing.lqn.crossing import Crossing, Join, Met, Split
from headway.models.language.formula import Formula, of_number
from headway.models.structure.parts.flows import parts_of
from headway.queueing.layers.flow import (
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    replies,
)
from headway.queueing.layers.parts import Entry

_MOST_PARTS = 2_000  # most steps of a flow, with its choices written out
_DEEPEST = 150  # most activities in a row, because of Python's own stack


class Reading(Protocol):
    """What reads the elements of a file."""

    def step(self, element: Element, place: str) -> Step:
        """The step of an activity."""

    def amount(self, element: Element, key: str, place: str, default: float) -> Formula:
        """A number, or a formula of variables."""

    def whole(self, element: Element, key: str, place: str, default: float) -> int:
        """A whole number."""

    def wrong(self, place: str, what: str) -> ModelFileError:
        """The error of something at a place."""


class ActivityGraph:
    """The graph of a task's activities, written out as the flow of each entry."""

    def __init__(self, reading: Reading, task: str, element: Element, entries: set[str]) -> None:
        self.reading, self.place = reading, f"task {task}"
        self.steps: dict[str, Step] = {}
        self.starts: dict[str, str] = {}
        self.replies: dict[str, set[str]] = {}
        self.onward: dict[str, tuple[Element, Join | None]] = {}
        self.after: dict[int, Element | None] = {}
        self.known: dict[tuple[str, str], tuple[Flow, Met]] = {}
        self.path: list[str] = []
        self.led: set[str] = set()
        self.met: dict[Join, dict[str, Flow]] = {}
        self.parties: dict[str, dict[str, Flow]] = {}
        self.again: list[str] = []
        for one in element.findall("activity"):
            step = reading.step(one, self.place)
            self._once(step.name in self.steps, step.name, "is defined twice; rename one")
            self.steps[step.name] = step
            if bound := one.get("bound-to-entry"):
                if bound in self.starts:
                    what = f"{self.starts[bound]} and {step.name} are both bound to it; choose one"
                    place = f"entry {bound}"
                    raise reading.wrong(place, what)
                self.starts[bound] = step.name
        for one in element.findall("reply-entry"):
            for reply in one.findall("reply-activity"):
                self.replies.setdefault(reply.get("name", ""), set()).add(one.get("name", ""))
        self.led.update(self.starts.values())
        for number, one in enumerate(element.findall("precedence")):
            self._precedence(number, one)
        self._check_names(entries)

    def _once(self, wrong: object, name: str, what: str) -> None:
        if wrong:
            what = f"activity {name} {what}"
            raise self.wrong(what)

    def _check_names(self, entries: set[str]) -> None:
        """Refuse starts and replies of entries that the task lacks, and replies of no entry."""
        for bound in self.starts:
            if bound not in entries:
                what = f"an activity is bound to {quoted(bound)}, which is not one of its entries"
                raise self.wrong(what + nearest(bound, entries))
        for name, answered in self.replies.items():
            if name not in self.steps:
                what = f"{quoted(name)}, which replies, is not an activity"
                raise self.wrong(what + nearest(name, self.steps))
            if lost := sorted(answered - entries):
                what = f"{name} replies to {quoted(lost[0])}, which is not one of its entries"
                raise self.wrong(what)

    def check_use(self) -> None:
        """Refuse activities that follow from no entry."""
        reached = {name for name, _ in self.known}
        for name in self.steps:
            what = "is reached from no entry; bind it, lead to it, or remove it"
            self._once(name not in reached, name, what)
        for name, answered in self.replies.items():
            for entry in sorted(answered):
                own = [entry, *(each for each, met in self.parties.items() if entry in met)]
                if not any((name, each) in self.known for each in own):
                    what = f"activity {name} replies to {entry}, whose requests do not come to it"
                    raise self.wrong(what + "; move the reply")

    def check_ways(self) -> None:
        """Refuse activities that follow by two ways that do not join."""
        for name in self.again:
            what = "is led to twice, or bound to an entry too; join the ways"
            self._once(name, name, what)

    def _precedence(self, number: int, element: Element) -> None:
        before = [part for part in element if part.tag.startswith("pre")]
        after = [part for part in element if part.tag.startswith("post")]
        self._check_ends(before, after)
        names = [one.get("name", "") for one in before[0].findall("activity")]
        join = None
        if before[0].tag == "pre-AND":
            place = f"{self.place}: join"
            needed = self.reading.whole(before[0], "quorum", place, 0.0) or len(names)
            join = Join(number, tuple(names), needed)
            self.after[number] = after[0] if after else None
        for name in names:
            if name not in self.steps:
                what = f"a precedence names {quoted(name)}, which is not an activity"
                raise self.wrong(what)
            if after or join:
                self._once(name in self.onward, name, "leads on twice; fork, or choose")
                self.onward[name] = (after[0] if after else element, join)

    def _check_ends(self, before: list[Element], after: list[Element]) -> None:
        """Refuse a precedence without a beginning or with two ends; note where it leads."""
        if len(before) != 1 or len(after) > 1:
            raise self.wrong("a precedence needs one <pre> and one <post>")
        for part in (*before, *after):
            if part.find("activity") is None:
                what = f"<{part.tag}> names no activity"
                raise self.wrong(what)
        for one in (each for part in after for each in part.iter()):
            for name in filter(None, (one.get("name"), one.get("end"))):
                self.again += [name] if name in self.led else []
                self.led.add(name)

    def flow(self, entry: str) -> Flow:
        """The flow of an entry, from the activity that is bound to it."""
        place = f"entry {entry}"
        if entry not in self.starts:
            raise self.reading.wrong(place, "no activity is bound to it")
        flow, met = self.follow(self.starts[entry], entry)
        if isinstance(met, Join) and self._others(met, entry):
            self.met.setdefault(met, {})[entry] = flow
            return flow
        if met is not None:
            self.check_ways()
        if isinstance(met, Split):
            what = f"not all that a join needs follow from the fork to {' and '.join(met.names)}"
            raise self.reading.wrong(place, what)
        if met is not None:
            raise self.reading.wrong(place, "its activities meet in a join without a fork")
        return flow

    def _others(self, join: Join, entry: str) -> list[str]:
        """The other entries whose activities end in a join."""
        others = ((each, start) for each, start in self.starts.items() if each != entry)
        return [each for each, start in others if self.follow(start, each)[1] == join]

    def meetings(self, task: str) -> Iterator[tuple[str, Entry]]:
        """What follows each join of activities of several entries, as an entry that meets them."""
        for join, flows in self.met.items():
            if not join.needed == len(join.names) == len(flows):
                what = (
                    f"the join of {', '.join(join.names)} is of {len(flows)} entries; it needs one "
                    "activity of each, and all of them"
                )
                raise self.wrong(what)
            name = "_and_".join(flows)
            self.parties[name] = flows
            rest, met = self.behind(join, name)
            if met is not None:
                what = f"what follows the join of {', '.join(join.names)} ends in another join"
                raise self.wrong(what)
            yield name, Entry(task, Series(tuple(rest)), of_number(0.0), meets=tuple(flows))

    def _replies(self, name: str, entry: str) -> list[Flow]:
        """The replies of an activity: to the entry, or to those that it meets and still wait."""
        said = self.replies.get(name, set())
        if entry not in self.parties:
            return [Reply()] if entry in said else []
        late = [each for each, flow in self.parties[entry].items() if not replies(flow)]
        to = [each for each in self.parties[entry] if each in said]
        return [Reply()] if to and to == late else [Reply(each) for each in to]

    def follow(self, name: str, entry: str) -> tuple[Flow, Met]:
        """The flow from an activity to the end or to a join."""
        if name not in self.steps:
            what = f"{quoted(name)} is not an activity"
            raise self.wrong(what)
        if name in self.path:
            what = f"its activities go round: {' -> '.join([*self.path, name])}; use a loop"
            raise self.wrong(what)
        if (name, entry) not in self.known:
            self.path.append(name)
            found = None if len(self.path) > _DEEPEST else self._behind(name, entry)
            if found is None or _size(found[0]) > _MOST_PARTS:
                what = f"its activities have more than {_MOST_PARTS:,} ways, or {_DEEPEST} in a row"
                raise self.wrong(what)
            self.path.pop()
            self.known[name, entry] = found
        return self.known[name, entry]

    def _behind(self, name: str, entry: str) -> tuple[Flow, Met]:
        parts: list[Flow] = [self.steps[name], *self._replies(name, entry)]
        if name not in self.onward:
            return Series(tuple(parts)), None
        after, join = self.onward[name]
        if join is not None:
            return Series(tuple(parts)), join
        rest, met = self._post(after, entry)
        return Series((*parts, *rest)), met

    def _post(self, after: Element | None, entry: str) -> tuple[list[Flow], Met]:
        """What follows: one activity, a choice, parallel branches, or loops."""
        if after is None:
            return [], None
        members = after.findall("activity")
        names = [one.get("name", "") for one in members]
        if after.tag == "post":
            flow, met = self.follow(names[0], entry)
            return [flow], met
        if after.tag == "post-OR":
            return self._choice(members, entry)
        if after.tag == "post-LOOP":
            return self._loops(after, members, entry)
        if after.tag == "post-AND":
            return self._fork(names, entry)
        what = f"<{after.tag}> is not supported"
        raise self.wrong(what)

    def _choice(self, members: list[Element], entry: str) -> tuple[list[Flow], Met]:
        ways: list[tuple[Formula, Flow]] = []
        meets = []
        for one in members:
            chance = self.reading.amount(one, "prob", self.place, 1.0)
            flow, met = self.follow(one.get("name", ""), entry)
            ways.append((chance, flow))
            meets.append(met)
        if len(set(meets)) > 1:
            what = "some ways of a choice lead to a join and others do not"
            raise self.wrong(what)
        ways, behind = _parted(ways)
        return [Choice(tuple(ways)), *behind], meets[0]

    def _loops(self, after: Element, members: list[Element], entry: str) -> tuple[list[Flow], Met]:
        parts: list[Flow] = []
        for one in members:
            count = self.reading.amount(one, "count", self.place, 1.0)
            body, met = self.follow(one.get("name", ""), entry)
            if met is not None:
                raise self.wrong("a loop leads to a join outside it")
            parts.append(Loop(body, count))
        end = after.get("end")
        if not end:
            return parts, None
        flow, met = self.follow(end, entry)
        return [*parts, flow], met

    def _fork(self, names: list[str], entry: str) -> tuple[list[Flow], Met]:
        """Branches that all meet in one join, or end; or those of this fork and of inner forks."""
        each = [self.follow(name, entry) for name in names]
        flows = tuple(flow for flow, _ in each)
        meets = {met for _, met in each}
        join = meets.pop() if len(meets) == 1 else Split(())
        if join is None:
            return [Together(flows, len(flows))], None
        if isinstance(join, Join) and len(join.names) == len(each):
            rest, met = self.behind(join, entry)
            return [Together(flows, join.needed), *rest], met
        crossed = Crossing(self, entry).of(tuple(names))
        return ([], Split(tuple(names))) if crossed is None else ([crossed], None)

    def behind(self, join: Join, entry: str) -> tuple[list[Flow], Met]:
        """The flow after a join."""
        return self._post(self.after[join.number], entry)

    def wrong(self, what: str) -> ModelFileError:
        """The error of something in the graph."""
        return self.reading.wrong(self.place, what)


def _parted(ways: list[tuple[Formula, Flow]]) -> tuple[list[tuple[Formula, Flow]], list[Flow]]:
    """The ways of a choice up to where they all meet, and what follows."""
    each = [list(parts_of(way)) for _, way in ways]
    behind: list[Flow] = []
    while all(each) and all(parts[-1] == each[0][-1] for parts in each):
        behind.insert(0, each[0][-1])
        each = [parts[:-1] for parts in each]
    chances = [chance for chance, _ in ways]
    return [(c, Series(tuple(p))) for c, p in zip(chances, each, strict=True)], behind


def _size(flow: Flow) -> int:
    """The number of parts of a flow, counted up to just above the maximum."""
    match flow:
        case Series(parts) | Together(parts):
            inside = parts
        case Choice(ways):
            inside = tuple(way for _, way in ways)
        case Loop(body, _):
            inside = (body,)
        case _:
            return 1
    count = 1
    for part in inside:
        count += _size(part) if count <= _MOST_PARTS else 0
    return count
