"""Flows of layered services in the form in which files give them."""

from collections.abc import Iterator
from dataclasses import replace

from headway.queueing.layers.flow import (
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    with_steps,
)


def parts_of(flow: Flow) -> tuple[Flow, ...]:
    """The parts of a flow in series, none of which is a series itself.

    Examples
    --------
    >>> [step.name for step in parts_of(Series((Step("a"), Series((Step("b"), Step("c"))))))]
    ['a', 'b', 'c']
    """
    if isinstance(flow, Series):
        return tuple(each for part in flow.parts for each in parts_of(part))
    return (flow,)


def stated(flow: Flow, *, early: bool = False) -> tuple[Flow, ...]:
    """The parts of an entry's flow, without a reply at its very end, which need not be stated.

    Parameters
    ----------
    flow
        The flow.
    early
        Whether a reply at the end must be stated, as one before a meeting.

    Examples
    --------
    >>> [type(part).__name__ for part in stated(Series((Step("a"), Reply())))]
    ['Step']
    """
    parts = parts_of(flow)
    return parts[:-1] if not early and parts[-1:] == (Reply(),) else parts


def in_phases(parts: tuple[Flow, ...]) -> tuple[Step, ...] | None:
    """The steps of a flow with one before the reply, and at most one of a kind after it.

    Examples
    --------
    >>> [step.name for step in in_phases((Step("a"), Reply(), Step("b")))]
    ['a', 'b']
    >>> in_phases((Step("a"), Step("b"))) is None
    True
    """
    match parts:
        case (Step() as first,):
            return (first,)
        case (Step() as first, Reply(""), _, *_) if all(isinstance(p, Step) for p in parts[2:]):
            later = parts[2:]
            return (first, *(one for one in later if isinstance(one, Step)))
    return None


class OwnNames:
    """Gives each step of a flow a unique name.

    Parameters
    ----------
    taken
        Names already in use.

    Examples
    --------
    >>> flow = Choice(((0.5, Step("look")), (0.5, Series((Step("look"), Step("reply"))))))
    >>> [name for name, _ in steps(OwnNames({"reply"}).named(flow))]
    ['look', 'look_2', 'reply_2']
    """

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def free(self, name: str) -> str:
        """A free name like the one given, which is then in use."""
        count, free = 1, name
        while free in self.taken:
            count += 1
            free = f"{name}_{count}"
        self.taken.add(free)
        return free

    def named(self, flow: Flow, prefix: str = "") -> Flow:
        """A flow whose steps have unique names, without a prefix.

        Parameters
        ----------
        flow, prefix
            The flow, and what to cut from the beginning of its names.
        """

        def own(step: Step) -> Step:
            return replace(step, name=self.free(step.name.removeprefix(prefix) or step.name))

        return with_steps(flow, own)


def steps(flow: Flow) -> Iterator[tuple[str, Step]]:
    """Every step of a flow with its name, in order.

    Examples
    --------
    >>> [name for name, _ in steps(Loop(Series((Step("a"), Reply(), Step("b"))), 2.0))]
    ['a', 'b']
    """
    match flow:
        case Step():
            yield flow.name, flow
        case Series(parts) | Together(parts):
            for part in parts:
                yield from steps(part)
        case Choice(ways):
            for _, way in ways:
                yield from steps(way)
        case Loop(body, _):
            yield from steps(body)
