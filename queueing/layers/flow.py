"""What a thread does for a request: steps in series, choices, branches at once, and loops.

A flow is a tree. Its leaves are steps, which use a processor and call other services, and the
reply, after which the caller goes on while the thread does the rest (its second phase).
"""

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import TypeAlias

from headway.kinds import Amount
from headway.records import dataclass


@dataclass(frozen=True)
class Step:
    """Work at the processor of the task, with calls in between.

    A thread does its demand in 1 + Y slices, where Y is its number of calls: after each slice it
    makes a call, or goes on when there are none left. By default the number of calls to each entry
    is geometric with its mean, in random order, so that the sum of exponential slices is
    exponential. With ``fixed`` numbers, calls are a whole number each, and made in the order given.

    Parameters
    ----------
    name
        Of the step, once in a task.
    demand
        Mean time of all slices together at a processor of speed 1 [s], 0 or more.
    scv
        Squared coefficient of variation of each slice, 0 or more.
    think_time
        Mean exponential delay before the first slice, for which the thread is held [s].
    calls
        Mean calls whose reply the thread waits for, by entry.
    sends
        Mean messages to entries, for whose answer the thread does not wait.
    fixed
        Whether the numbers of calls are fixed instead of geometric.

    Examples
    --------
    >>> Step("page", 0.01, calls={"read": 2.5}).slices
    3.5
    """

    name: str
    demand: Amount = 0.0
    scv: Amount = 1.0
    think_time: Amount = 0.0
    calls: dict[str, Amount] = field(default_factory=dict)
    sends: dict[str, Amount] = field(default_factory=dict)
    fixed: bool = False

    @property
    def slices(self) -> Amount:
        """Mean number of slices, 1 + Y."""
        return 1.0 + sum(self.calls.values()) + sum(self.sends.values())


@dataclass(frozen=True)
class Reply:
    """Reply to the request, or forward it as the entry says; the thread then works on.

    Parameters
    ----------
    to
        Where requests for several entries have met: the entry whose request it answers, instead of
        all that still wait.
    """

    to: str = ""


@dataclass(frozen=True)
class Series:
    """Parts done one after the other."""

    parts: tuple["Flow", ...]


@dataclass(frozen=True)
class Choice:
    """One of several ways, whose probabilities sum to 1.

    Parameters
    ----------
    ways
        Each way with its probability.
    """

    ways: tuple[tuple[Amount, "Flow"], ...]


Waits: TypeAlias = tuple[tuple[int, ...], int]
"""The branches that another branch waits for, by number, and how many of them must end."""

NOBODY: Waits = (), 0
"""The entry of `Together.behind` for a branch that begins at once."""


@dataclass(frozen=True)
class Together:
    """Parallel branches (fork and join); the flow goes on when ``needed`` of them have ended.

    Branches that are not needed run on, and the thread is free when they have ended too. Branches
    may begin only when others have ended, for forks and joins that are not nested.

    Parameters
    ----------
    branches
        Two or more flows.
    needed
        How many branches the flow waits for, from 1 to all; all if some wait for others.
    behind
        For each branch, which others it waits for, by number, and how many of them must end;
        `NOBODY` for a branch that begins at once. Empty if all branches begin at once.

    Examples
    --------
    >>> a, b, c = (Step(name, 1.0) for name in "abc")
    >>> row = Together((a, b, c), 3, (NOBODY, NOBODY, ((0, 1), 1)))  # c behind the first of a and b
    >>> row.followers(0)
    (2,)
    """

    branches: tuple["Flow", ...]
    needed: int
    behind: tuple[Waits, ...] = ()

    def followers(self, number: int) -> tuple[int, ...]:
        """Branches that wait for this one, by number."""
        return tuple(k for k, (waits, _) in enumerate(self.behind) if number in waits)


@dataclass(frozen=True)
class Loop:
    """A part repeated a geometric number of times.

    Parameters
    ----------
    body
        What is repeated.
    mean
        Mean number of times, 0 or more.
    """

    body: "Flow"
    mean: Amount


Flow: TypeAlias = Step | Reply | Series | Choice | Together | Loop


def steps_of(flow: Flow, times: Amount = 1.0) -> Iterator[tuple[Step, Amount]]:
    """All steps of a flow, each with the mean number of times that it is done.

    Examples
    --------
    >>> twice = Loop(Series((Step("look"), Choice(((0.25, Step("write")), (0.75, Reply()))))), 2.0)
    >>> [(step.name, times) for step, times in steps_of(twice)]
    [('look', 2.0), ('write', 0.5)]
    """
    match flow:
        case Step():
            yield flow, times
        case Series(parts) | Together(parts):
            for part in parts:
                yield from steps_of(part, times)
        case Choice(ways):
            for chance, way in ways:
                yield from steps_of(way, times * chance)
        case Loop(body, mean):
            yield from steps_of(body, times * mean)


def with_steps(flow: Flow, change: Callable[[Step], Step]) -> Flow:
    """The same flow with each of its steps changed, in the order in which they stand.

    Examples
    --------
    >>> twice = with_steps(Loop(Step("look", 0.1), 2.0), lambda step: Step(step.name, 0.2))
    >>> [(step.demand, times) for step, times in steps_of(twice)]
    [(0.2, 2.0)]
    """
    match flow:
        case Step():
            return change(flow)
        case Series(parts):
            return Series(tuple(with_steps(part, change) for part in parts))
        case Choice(ways):
            return Choice(tuple((chance, with_steps(way, change)) for chance, way in ways))
        case Together(branches):
            return replace(flow, branches=tuple(with_steps(each, change) for each in branches))
        case Loop(body, mean):
            return Loop(with_steps(body, change), mean)
        case Reply():
            return flow


def parts_within(flow: Flow) -> Iterator[Flow]:
    """A flow and all parts of it, in the order in which they stand.

    Examples
    --------
    >>> [type(part).__name__ for part in parts_within(Loop(Series((Step("look"), Reply())), 2.0))]
    ['Loop', 'Series', 'Step', 'Reply']
    """
    yield flow
    inside: tuple[Flow, ...] = ()
    match flow:
        case Series(inside) | Together(inside):
            pass
        case Choice(ways):
            inside = tuple(way for _, way in ways)
        case Loop(body, _):
            inside = (body,)
    for part in inside:
        yield from parts_within(part)


def answered(flow: Flow) -> set[str]:
    """The entries that the replies in a flow name; "" for a reply that names none.

    Examples
    --------
    >>> answered(Series((Step("look"), Reply(), Reply("read")))) == {"", "read"}
    True
    """
    return {part.to for part in parts_within(flow) if isinstance(part, Reply)}


def replies(flow: Flow) -> bool:
    """Whether a reply stands anywhere in a flow.

    Examples
    --------
    >>> replies(Series((Step("look"), Reply())))
    True
    """
    return bool(answered(flow))
