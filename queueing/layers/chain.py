"""The whole Markov chain of a layered system, with all clients and messages: exact."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.layers.chain_limits import check_chain
from headway.queueing.layers.flow import steps_of
from headway.queueing.layers.means import EntryMeans, LayeredMeans, visits
from headway.queueing.layers.points import first_of, joined, points_of
from headway.queueing.layers.program import (
    Answer,
    Branch,
    Program,
    Serve,
    Spawn,
    Tell,
    Wait,
    program_of,
    times_of,
)
from headway.queueing.layers.score import LayeredScore, score_of
from headway.queueing.layers.states.rows import Cell, Ending, Line, Search
from headway.queueing.layers.states.search import (
    CHILDREN,
    LEFT,
    POSITION,
    ROLE,
    Role,
    explore_program,
)
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.markov.space import recurrent_states, shares_of_time
from headway.queueing.playing.rows import NONE, IntArray, RowArray, rows
from headway.records import dataclass

MOST_STATES = 300_000
"""The largest number of states searched for when a user asks for the chain."""

MOST_WORDS = 20_000_000
"""The largest number of requests and threads in all states together; each takes 8 bytes."""

MOST_MOVES = 20_000_000
"""The largest number of moves between all states; each takes 16 bytes."""

MOST_CELLS = 2**15
"""The largest number of requests and threads in one state that its words can count."""

MOST_KEPT, ALL_KEPT, LEAST_KEPT = 5_000, 320_000, 100
"""The most states remembered of one program and of all programs together (some 60 MB), and the
fewest that a program counts for.
"""

SLICE = 5_000
"""States explored between two checks for Ctrl-C and two reports of progress."""

Progress = Callable[[int], None]
"""Called now and then with the number of states found so far."""


def by_chain(
    system: LayeredSystem,
    most: int = MOST_STATES,
    progress: Progress = lambda _: None,
    moves: int = MOST_MOVES,
) -> LayeredMeans | None:
    """Solve a closed layered system with exponential times state by state.

    Parameters
    ----------
    system
        One operating point, with clients and without arrivals.
    most
        The largest number of states to accept.
    progress
        Called from time to time with the number of states found so far.
    moves
        The largest number of moves between states to accept.

    Returns
    -------
    None if there are more states or moves than that.

    Raises
    ------
    GraphError
        For arrivals from outside, times that are not exponential, and disciplines without states.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 2, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> round(by_chain(one).throughput("users"), 12)  # two jobs, one server, as a closed network
    0.769230769231
    """
    program = program_of(system)
    check_chain(system, program)
    states = states_of(system, program, most, progress, moves)
    if states is None:
        return None
    shares = states.shares()
    cycles = dict(zip(system.entries, (shares @ states.ended).tolist(), strict=True))
    counted = np.tensordot(shares, _counts(system, program, states), 1)
    return _means(system, cycles, dict(zip(system.entries, counted.tolist(), strict=True)))


def by_chains(system: LayeredSystem, most: int = MOST_STATES) -> LayeredMeans | None:
    """Solve operating points that have the same threads, servers and clients.

    States are explored once if the points differ in times only. Otherwise as `by_chain`.
    """
    first, times = first_of(system), times_of(system)
    if times is None or not system.shape:
        found = [by_chain(point, most) for point in points_of(system)]
        return None if None in found else joined(system, [one for one in found if one])
    program = program_of(first)
    check_chain(first, program)
    states = states_of(first, program, most)
    if states is None:
        return None
    counts, recurrent = _counts(first, program, states), states.recurrent
    cycles = np.empty((times.shape[1], len(system.entries)))
    counted = np.empty((*cycles.shape, counts.shape[2]))
    for point, rates in enumerate(1 / times.T):
        here = states.at(1 / times[:, 0], rates)
        shares = here.shares(recurrent)
        cycles[point] = shares @ here.ended
        counted[point] = np.tensordot(shares, counts, 1)
    shape = system.shape
    return _means(
        system,
        {name: np.reshape(cycles[:, n], shape) for n, name in enumerate(system.entries)},
        {
            name: [np.reshape(column, shape) for column in counted[:, n].T]
            for n, name in enumerate(system.entries)
        },
    )


# at most so many clients are placed; with fewer placed the count is still a lower bound
_CROWD = 500


def fewest_states(system: LayeredSystem) -> float:
    """A lower bound on the number of states: the ways to place clients at entries.

    If one entry only of a task is on the way, k clients at it or below it can be placed in f(k)
    ways: the convolution of the numbers of ways for the entries that it calls, and of 1, 1, ... if
    it takes time itself. Clients beyond the threads of the task wait for a thread, so f(k) =
    f(threads).

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> two = LayeredSystem(
    ...     "two",
    ...     {"cpu": Processor(), "disk": Processor()},
    ...     {"users": Task("cpu", 5, 1.0, clients=True), "store": Task("disk", 2)},
    ...     {
    ...         "use": Entry("users", Step("use", calls={"read": 1.0})),
    ...         "read": Entry("store", Step("read", 0.1)),
    ...     },
    ... )
    >>> fewest_states(two)  # none to five clients ask, of whom two at most are served
    6.0
    """
    found = 1.0
    for name, entry in system.entries.items():
        task = system.tasks[entry.task]
        if task.clients:
            ways = _ways_below(system, name, int(min(float(task.threads), _CROWD)), set())
            thinks = bool(task.think_time) or _takes_time(system, name)
            found = max(found, float(ways.sum() if thinks else ways[-1]))
    return found


def _ways_below(system: LayeredSystem, name: str, most: int, seen: set[str]) -> FloatArray:
    """Ways to place 0, 1, ... clients below an entry, which is not counted as a place itself."""
    seen.add(system.entries[name].task)
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    for called, mean in system.entries[name].calls():
        task = system.entries[called].task
        if task not in seen and mean:
            limit = int(min(float(system.tasks[task].threads), most))
            below = _ways_below(system, called, limit, seen)
            if _takes_time(system, called):
                below = np.cumsum(below)
            ways = np.convolve(ways, np.pad(below, (0, most - limit), mode="edge"))[: most + 1]
    return ways


def _takes_time(system: LayeredSystem, entry: str) -> bool:
    steps = steps_of(system.entries[entry].flow)
    return any(often and (step.demand or step.think_time) for step, often in steps)


def no_chain(system: LayeredSystem) -> str:
    """Why a system has no finite chain of states, in one line; empty if it has one.

    One operating point is enough: the programs of the others differ in rates only.
    """
    try:
        check_chain(system, program_of(first_of(system)))
    except GraphError as refusal:
        return str(refusal)
    return ""


@dataclass(frozen=True, eq=False)
class States:
    """The states of a chain, and the moves between them.

    Parameters
    ----------
    words, starts
        The words of all states (`headway.queueing.layers.states.search`), and where each state
        begins; `starts` has one more number than there are states.
    begins
        Where the moves of each state begin, with one more number than there are states.
    targets, flows
        The state that each move leads to, and its rate [1/s].
    ended
        The rate at which clients' cycles end, shape (states, entries) [1/s].
    causes
        What causes each move, coded as in `explore_program`.
    """

    words: IntArray
    starts: IntArray
    begins: IntArray
    targets: IntArray
    flows: FloatArray
    ended: FloatArray
    causes: IntArray

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self.starts) - 1

    @property
    def source(self) -> IntArray:
        """The state that each move leaves."""
        return np.repeat(np.arange(self.count), np.diff(self.begins))

    def shares(self, recurrent: NDArray[np.bool_] | None = None) -> FloatArray:
        """The share of time in each state (the stationary distribution)."""
        return shares_of_time(self.source, self.targets, self.flows, self.count, recurrent)

    @property
    def recurrent(self) -> NDArray[np.bool_]:
        """Whether each state is recurrent."""
        return recurrent_states(self.source, self.targets, self.count)

    def at(self, before: FloatArray, after: FloatArray) -> "States":
        """The same states where instructions have rates ``after`` instead of ``before``."""
        entries = self.ended.shape[1]
        address, entry = np.divmod(self.causes, entries + 1)
        times = np.divide(after, before, where=before > 0, out=np.zeros_like(before))
        flows = self.flows * times[address]
        cells = self.source * (entries + 1) + entry
        ended = np.bincount(cells, flows, self.count * (entries + 1)).astype(float)
        return replace(self, flows=flows, ended=ended.reshape(self.count, -1)[:, 1:])


def states_of(
    system: LayeredSystem,
    program: Program,
    most: int,
    progress: Progress = lambda _: None,
    moves: int = MOST_MOVES,
) -> States | None:
    """Find all states that can be reached from the first; None if there are more than allowed.

    The search stops early when the moves found so far, scaled up to all states, are too many.

    Raises
    ------
    GraphError
        For clients that take no time, and threads that can wait for each other for ever.
    """
    score = score_of(system)
    if sum(score.clients) > MOST_CELLS:
        return None
    given = program_arguments(score, program)
    *shape, rates, chances, clients = given
    key = tuple(each.tobytes() for each in (*shape, rates > 0, chances, clients))
    known = _SEARCHES.of(key)
    if known and known.says(most):
        return known.states_at(rates, most, moves)
    room = Room(most, score, 2 * (sum(score.clients) + len(program.instructions)))
    ending = _explored(given, room, progress, moves)
    if ending is Ending.STILL:
        msg = f"{system.name}: its clients take no time; give a step a demand"
        raise GraphError(msg)
    if ending is Ending.MANY:
        _SEARCHES.keep(key, _SearchResult(None, rates, most))
    if ending is not Ending.WHOLE:
        return None
    states = room.found()
    if not np.diff(states.begins).all():
        msg = f"{system.name}: all threads can wait for each other, for ever"
        raise GraphError(msg)
    return _remembered(key, states, rates)


def _explored(given: tuple[Any, ...], room: "Room", progress: Progress, moves: int) -> Ending:
    """Search slice by slice in growing arrays; FULL if these reach their limit, or moves theirs."""
    while True:
        explore_program(*(*given, *room.arrays(), SLICE))
        ending = Ending(int(room.search["reason"][0]))
        if ending in (Ending.WHOLE, Ending.STILL):
            return ending
        progress(int(room.search["states"][0]))
        if room.promised() > moves:
            return Ending.FULL
        if ending is Ending.MANY or (ending is not Ending.SOME and not room.grown(ending)):
            return ending


@dataclass(frozen=True, eq=False)
class _SearchResult:
    """The result of a search: the states and the rates used, or the number of states exceeded.

    Programs that differ in times only share it: fits, sweeps and pages ask for them repeatedly.
    """

    states: States | None
    rates: FloatArray
    more: int = 0

    def says(self, most: int) -> bool:
        """Whether the search has shown if there are more than ``most`` states."""
        return self.states is not None or self.more >= most

    def states_at(self, rates: FloatArray, most: int, moves: int) -> States | None:
        """The states at other rates; None if they or their moves are more than allowed."""
        states = self.states
        if states is None or states.count > most or len(states.flows) > moves:
            return None
        return states.at(self.rates, rates)


_Key: TypeAlias = tuple[bytes, ...]


class _Searches:
    """The results of recent searches, by program; when full, it drops the least recently used."""

    def __init__(self) -> None:
        self._found: OrderedDict[_Key, _SearchResult] = OrderedDict()
        self._size = 0

    def of(self, key: _Key) -> _SearchResult | None:
        """The result of the search of a program, or None."""
        if key in self._found:
            self._found.move_to_end(key)
        return self._found.get(key)

    def keep(self, key: _Key, known: _SearchResult) -> None:
        """Keep the result of a search in place of an earlier one."""
        self._forget(key)
        self._found[key] = known
        self._size += _size(known)
        while self._size > ALL_KEPT:
            self._forget(next(iter(self._found)))

    def _forget(self, key: _Key) -> None:
        if key in self._found:
            self._size -= _size(self._found.pop(key))


def _size(known: _SearchResult) -> int:
    return max(known.states.count if known.states else 0, LEAST_KEPT)


_SEARCHES = _Searches()


def _remembered(key: _Key, states: States, rates: FloatArray) -> States:
    """Remember the states for later questions at other rates, unless there are too many."""
    if states.count <= MOST_KEPT and np.allclose(states.ended, states.at(rates, rates).ended):
        _SEARCHES.keep(key, _SearchResult(states, rates))
    return states


def program_arguments(score: LayeredScore, program: Program) -> tuple[Any, ...]:
    """The arguments of `explore_program` that stay the same throughout a search."""
    numbers = {name: n for n, name in enumerate(program.starts)}
    times = (one.mean if isinstance(one, Serve | Wait) else np.inf for one in program.instructions)
    chances: list[float] = []
    for one in program.instructions:
        match one:
            case Branch(ways):
                chances += [chance for chance, _ in ways]
            case Answer(forwards):
                chances += [chance for chance, _ in forwards]
            case Spawn(targets) | Tell(targets):
                chances += [0.0 for _ in targets]
    tables = (score.instructions, score.ways, score.entries, score.places)
    return (
        *(table.view(np.int64) for table in tables),
        np.array([numbers[name] for name in program.entries], np.int64),
        np.array([1 / time for time in times]),
        np.array(chances, float),
        np.array(score.clients, np.int64),
    )


class Room:
    """The arrays of a search, which grow as it goes on."""

    def __init__(self, most: int, score: LayeredScore, crowd: int) -> None:
        self.search = rows(Search, [Search(most=most)])
        self.words = np.zeros(2**14 + crowd, np.int64)
        self.starts = np.zeros(2**10, np.int64)
        self.table = np.full(2**12, NONE)
        self.begins = np.zeros(2**10, np.int64)
        self.targets = np.zeros(2**13, np.int64)
        self.flows = np.zeros(2**13)
        self.causes = np.zeros(2**13, np.int64)
        self.ended = np.zeros((2**10 - 1, len(score.entries)))
        self.cells = rows(Cell, [Cell()] * 2 * crowd)
        self.lines: RowArray = rows(Line, [Line()] * 2 * len(score.places))

    def arrays(self) -> tuple[Any, ...]:
        """The arrays in the order in which `explore_program` takes them."""
        return (
            *(self.search.view(np.int64), self.words, self.starts, self.table, self.begins),
            *(self.targets, self.flows, self.ended.ravel()),
            *(self.cells.view(np.int64), self.lines.view(np.int64), self.causes),
        )

    def promised(self) -> float:
        """Estimated moves of all states found so far, if each has as many as an explored one."""
        search = self.search[0]
        return float(search["moves"] / max(search["explored"], 1) * search["states"])

    def grown(self, ending: Ending) -> bool:
        """Enlarge the arrays that are nearly full; whether the search may go on."""
        if ending is Ending.NARROW:
            self.cells = np.repeat(self.cells, 2)
            return len(self.cells) <= 2 * MOST_CELLS
        search = self.search[0]
        if len(self.words) < 2 * (search["words"] + len(self.cells)):
            self.words = np.pad(self.words, (0, len(self.words)))
        if len(self.targets) < 2 * search["moves"] + 2**10:
            self.targets = np.pad(self.targets, (0, len(self.targets)))
            self.flows = np.pad(self.flows, (0, len(self.flows)))
            self.causes = np.pad(self.causes, (0, len(self.causes)))
        if len(self.starts) < 2 * search["states"]:
            more = len(self.starts)
            self.starts, self.begins = (
                np.pad(self.starts, (0, more)),
                np.pad(self.begins, (0, more)),
            )
            self.ended = np.pad(self.ended, ((0, more), (0, 0)))
            self.table = np.full(2 * len(self.table), NONE)
            self.search["listed"] = 0
        return bool(search["words"] <= MOST_WORDS)

    def found(self) -> States:
        """The states and moves that were found."""
        search = self.search[0]
        count, moves, words = search["states"], search["moves"], search["words"]
        return States(
            self.words[:words],
            self.starts[: count + 1],
            self.begins[: count + 1],
            self.targets[:moves],
            self.flows[:moves],
            self.ended[:count],
            self.causes[:moves],
        )


def _counts(system: LayeredSystem, program: Program, states: States) -> FloatArray:
    """Waiting requests, threads before and threads after the answer: shape (states, entries, 3)."""
    entries, instructions = len(system.entries), len(program.instructions)
    state = np.repeat(np.arange(states.count), np.diff(states.starts))
    head = states.words >> CHILDREN + ROLE + LEFT + POSITION
    role = (states.words >> CHILDREN) & (1 << ROLE) - 1
    numbers = {name: n for n, name in enumerate(system.entries)}
    owners = np.array([numbers[name] for name in program.entries])
    waits = (head >= instructions) & (head < instructions + entries)
    here = np.where(head < instructions, owners[np.minimum(head, instructions - 1)], head)
    entry = np.where(head < instructions, here, (head - instructions) % entries)
    kinds = waits, (role == Role.CALLED) & ~waits, (role == Role.ROOT) & ~waits
    cells = state * entries + entry
    size = states.count * entries
    found = np.stack([np.bincount(cells[kept], minlength=size) for kept in kinds], axis=-1)
    counts = found.astype(float).reshape(states.count, entries, 3)
    for name, one in system.entries.items():
        if one.meets:  # it holds the thread from the first request that comes to it
            met = [numbers[each] for each in one.meets]
            counts[:, numbers[name]] = 0
            counts[:, numbers[name], 1] = counts[:, met, 1:].any(axis=(1, 2))
    return counts


def _means(
    system: LayeredSystem, cycles: Mapping[str, Amount], counted: Mapping[str, Sequence[Amount]]
) -> LayeredMeans:
    """Times by Little's law, with throughputs from the rates at which clients' cycles end."""
    visited = visits(system)
    entries = {}
    for name, entry in system.entries.items():
        rate = sum(cycles[source] * visited[source][name] for source in visited)
        waiting, before, after = counted[name]
        if system.tasks[entry.task].clients:
            thinking = rate * system.tasks[entry.task].think_time
            before, after = before + after - thinking, 0.0 * rate
        never = np.equal(rate, 0)
        per = (1.0 - never) / (rate + never)
        entries[name] = EntryMeans(rate, waiting * per, before * per, after * per)
    return LayeredMeans(system, entries)
