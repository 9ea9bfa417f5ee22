"""Events in a state of a layered system that was read into cells, one after another.

With `headway.queueing.layers.states.search` it is the twin of ``layered_states.c``.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile

from headway.kinds import FloatArray
from headway.queueing.layers.states.rows import (
    Cell,
    Ending,
    EntryRow,
    InstructionRow,
    Kind,
    Line,
    Order,
    PlaceRow,
    WayRow,
    in_order,
    orders,
)
from headway.queueing.playing.rows import NONE, IntArray, read_rows

OVER = -2
"""Address of a main token that has ended."""

_DRAWS, _MOST_STILL = 256, 100_000
_ROUNDING = 1e-9  # of probabilities that sum to 1


class Stopped(Exception):
    """Raised to stop the search, with its reason."""

    def __init__(self, reason: Ending) -> None:
        super().__init__()
        self.reason = reason


class Walk:
    """A program and a search as objects, one for each row, with the cells of one state."""

    def __init__(self, program: Sequence[IntArray], rate: FloatArray, chance: FloatArray) -> None:
        self.instruction: list[InstructionRow] = read_rows(InstructionRow, program[0])
        self.way: list[WayRow] = read_rows(WayRow, program[1])
        self.entry: list[EntryRow] = read_rows(EntryRow, program[2])
        self.place: list[PlaceRow] = read_rows(PlaceRow, program[3])
        self.owner: list[int] = program[4].tolist()
        self.clients: list[int] = program[5].tolist()
        self.rate: list[float] = rate.tolist()
        self.chance: list[float] = chance.tolist()
        self.tasks = len(list(takewhile(lambda place: place.processor != NONE, self.place)))
        self.cells = self.decided = self.drawn = 0
        self.decision, self.following = [0] * _DRAWS, [0] * _DRAWS
        self.fresh([], [Line() for _ in self.place])

    def fresh(self, cells: list[Cell], lines: list[Line]) -> None:
        """Start with these cells and lines."""
        self.cell, self.line = cells, lines
        self.unused = self.going = self.last = NONE
        self.still = self.drawn = 0
        self.ends: list[int] = []
        self.odds = 1.0


# Cells, and the line of tokens that can go on


def take(w: Walk, entry: int) -> int:
    """Take a new cell, for a request or a token."""
    j = w.unused
    if j == NONE:
        if len(w.cell) == w.cells:
            raise Stopped(Ending.NARROW)
        j = len(w.cell)
        w.cell.append(Cell(entry, thread=j))
        return j
    w.unused = w.cell[j].next
    w.cell[j] = Cell(entry, thread=j)
    return j


def _drop(w: Walk, j: int) -> None:
    w.cell[j].thread, w.cell[j].next = NONE, w.unused
    w.unused = j


def _ready(w: Walk, j: int) -> None:
    w.cell[j].next = NONE
    if w.going == NONE:
        w.going = j
    else:
        w.cell[w.last].next = j
    w.last = j


def go_on(w: Walk, j: int) -> None:
    """Put a token into the line of those that can go on, at its next instruction."""
    w.cell[j].address += 1
    _ready(w, j)


def begin(w: Walk, j: int) -> None:
    """Start a thread on its request, or a client on a new cycle."""
    c = w.cell[j]
    c.address, c.tokens, c.position = w.entry[c.entry].start, 1, 0
    _ready(w, j)


# Choose an option: as decided before, otherwise the first with a positive probability


def _draw(w: Walk, chances: Sequence[float]) -> int:
    if len(chances) == 1:
        return 0
    if w.drawn == _DRAWS:
        raise Stopped(Ending.STILL)
    some = [n for n, chance in enumerate(chances) if chance > 0]
    if w.drawn == w.decided:
        w.decision[w.decided] = some[0]
        w.decided += 1
    n = w.decision[w.drawn]
    w.following[w.drawn] = next((other for other in some if other > n), NONE)
    w.drawn += 1
    w.odds *= chances[n]
    return n


def decided_anew(w: Walk) -> bool:
    """Advance to the next combination of decisions; returns whether there is one."""
    while w.decided > 0 and w.following[w.decided - 1] == NONE:
        w.decided -= 1
    if w.decided:
        w.decision[w.decided - 1] = w.following[w.decided - 1]
    return w.decided > 0


# Places: which jobs are served. With preemption all are in line, and the first are served


def _rank(w: Walk, k: int, j: int) -> int:
    entry = w.entry[w.cell[j].entry]
    return entry.rank if k < w.tasks else w.place[entry.task].rank


def _passes(w: Walk, k: int, j: int, other: int) -> bool:
    """Whether a job that arrives at a place precedes another."""
    place, ahead = w.place[k], float(_rank(w, k, j) - _rank(w, k, other))
    first = place.by_turn + place.by_priority * ahead
    return first < 0 or (first == 0 and place.then_turn + place.then_priority * ahead < 0)


def stand_behind(w: Walk, k: int, j: int, other: int) -> None:
    """Insert a job into the line of a place, after another job or at the front."""
    line = w.line[k]
    following = line.first if other == NONE else w.cell[other].next
    w.cell[j].previous, w.cell[j].next, w.cell[j].position = other, following, 1
    if other == NONE:
        line.first = j
    else:
        w.cell[other].next = j
    if following == NONE:
        line.last = j
    else:
        w.cell[following].previous = j
    line.waiting += 1


def _step_out(w: Walk, k: int, j: int) -> None:
    line, following, previous = w.line[k], w.cell[j].next, w.cell[j].previous
    if previous == NONE:
        line.first = following
    else:
        w.cell[previous].next = following
    if following == NONE:
        line.last = previous
    else:
        w.cell[following].previous = previous
    w.cell[j].position = 0
    line.waiting -= 1


def parted(w: Walk, j: int) -> bool:
    """Whether a request has come to a meeting: all that its own entry does has ended."""
    c = w.cell[j]
    return c.thread == j and c.address == OVER and c.tokens == 0


def _party(w: Walk, entry: int) -> int:
    """The request for an entry that has come to its task's meeting; none if it has not."""
    cells = (j for j, c in enumerate(w.cell) if c.entry == entry and parted(w, j))
    return next(cells, NONE)


def _parties(w: Walk, meeting: int) -> list[int]:
    """The requests that have come to a meeting."""
    each = (_party(w, n) for n, entry in enumerate(w.entry) if entry.meeting == meeting)
    return [j for j in each if j != NONE]


def _come(w: Walk, k: int, j: int) -> None:
    place, line = w.place[k], w.line[k]
    free = not place.interrupts and line.serving < place.servers
    if place.meets and _party(w, w.cell[j].entry) != NONE:
        free = False
    if place.order == Order.SHARED or free:
        line.serving += 1
        if k < w.tasks:
            begin(w, j)
        return
    before = line.last
    if place.order == Order.RANKED:
        while before != NONE and _passes(w, k, j, before):
            before = w.cell[before].previous
    stand_behind(w, k, j, before)


def leave(w: Walk, k: int, j: int) -> None:
    """Leave a place, where the next job is then served."""
    place, line = w.place[k], w.line[k]
    if place.interrupts:
        _step_out(w, k, j)
        return
    line.serving -= 1
    if line.first == NONE or line.serving >= place.servers:
        return
    following = line.first
    if place.order == Order.AT_RANDOM:
        for _ in range(_draw(w, [1.0 / line.waiting] * line.waiting)):
            following = w.cell[following].next
    while place.meets and following != NONE and _party(w, w.cell[following].entry) != NONE:
        following = w.cell[following].next
    if following == NONE:
        return
    _step_out(w, k, following)
    line.serving += 1
    if k < w.tasks:
        begin(w, following)


# Instructions; each returns whether its token goes on at once


def _ask(w: Walk, entry: int, caller: int) -> None:
    j = take(w, entry)
    w.cell[j].caller = caller
    _come(w, w.entry[entry].task, j)


def _ways_in_order(w: Walk, instruction: InstructionRow) -> list[WayRow]:
    count = orders(instruction)
    return [w.way[n] for n in in_order(instruction, _draw(w, [1.0 / count] * count))]


def _spawn(w: Walk, instruction: InstructionRow, j: int) -> bool:
    c = w.cell[j]
    c.left = instruction.needed
    for way in _ways_in_order(w, instruction):
        branch = take(w, c.entry)
        each = w.cell[branch]
        each.address, each.thread, each.parent = way.target, c.thread, j
        w.cell[c.thread].tokens += 1
        first = w.instruction[way.target]
        if first.kind == Kind.GATE:
            each.left = first.needed
        else:
            _ready(w, branch)
    return False


def _tell(w: Walk, instruction: InstructionRow, j: int) -> bool:
    """Tell the gates of other branches of the same parent that this branch is done."""
    for way in _ways_in_order(w, instruction):
        for k, c in enumerate(w.cell):
            if c.parent == w.cell[j].parent and c.address == way.target:
                c.left -= 1
                if c.left == 0:
                    go_on(w, k)
    w.cell[j].address += 1
    return True


def _answer(w: Walk, instruction: InstructionRow, j: int) -> bool:
    c = w.cell[w.cell[j].thread]
    if instruction.entry != NONE:
        c = w.cell[_party(w, instruction.entry)]
    caller, c.caller = c.caller, NONE
    w.cell[j].address += 1
    chances = w.chance[instruction.way : instruction.way + instruction.ways]
    left = 1.0
    for chance in chances:
        left -= chance
    rest = [left] if left > _ROUNDING or not chances else []
    onward = _draw(w, [*chances, *rest])
    if onward < len(chances):
        _ask(w, w.way[instruction.way + onward].target, caller)
    elif caller != NONE:
        go_on(w, caller)
    if not instruction.drawn or _draw(w, [0.5, 0.5]):
        return True
    _ready(w, j)
    return False


def _join(w: Walk, parent: int) -> None:
    """The parent goes on after the last branch that it needs; the other branches run on."""
    w.cell[parent].left -= 1
    if w.cell[parent].left != 0:
        return
    for c in w.cell:
        if c.parent == parent:
            c.parent = NONE
    go_on(w, parent)


def _meet(w: Walk, task: int, meeting: int, j: int) -> None:
    """A request has come to a meeting; with the last one the thread goes on for all of them."""
    if len(_parties(w, meeting)) < w.entry[meeting].parties:
        leave(w, task, j)
    else:
        begin(w, take(w, meeting))


def _release(w: Walk, j: int) -> None:
    c = w.cell[j]
    entry = w.entry[c.entry]
    if entry.meeting != NONE:
        _meet(w, entry.task, entry.meeting, j)
        return
    for each in _parties(w, c.entry) if entry.parties else ():
        _drop(w, each)
    if not entry.clients:
        _drop(w, j)
        leave(w, entry.task, j)
        return
    if len(w.ends) == _DRAWS:
        raise Stopped(Ending.STILL)
    w.ends.append(c.entry)
    begin(w, j)


def _done(w: Walk, j: int) -> bool:
    c = w.cell[j]
    thread, parent, c.address = c.thread, c.parent, OVER
    if j != thread:
        c.parent = NONE
        _drop(w, j)
        if parent != NONE:
            _join(w, parent)
    w.cell[thread].tokens -= 1
    if w.cell[thread].tokens == 0:
        _release(w, thread)
    return False


def _choose(w: Walk, instruction: InstructionRow, j: int) -> bool:
    first = instruction.way
    chances = w.chance[first : first + instruction.ways]
    w.cell[j].address = w.way[first + _draw(w, chances)].target
    return True


_AT_ONCE: dict[int, Callable[[Walk, InstructionRow, int], bool]] = {
    Kind.BRANCH: _choose,
    Kind.SPAWN: _spawn,
    Kind.TELL: _tell,
    Kind.ANSWER: _answer,
    Kind.DONE: lambda w, _, j: _done(w, j),
}


def _follow(w: Walk, j: int) -> bool:
    instruction = w.instruction[w.cell[j].address]
    if instruction.kind in _AT_ONCE:
        return _AT_ONCE[instruction.kind](w, instruction, j)
    if instruction.kind == Kind.SERVE:
        _come(w, instruction.place, j)
    elif instruction.kind == Kind.CALL:
        _ask(w, instruction.entry, j)
    elif instruction.kind == Kind.SEND:  # chains with messages are refused
        raise Stopped(Ending.STILL)
    return False


def settle(w: Walk) -> None:
    """Follow the tokens that can go on, in order, until each takes time, waits or ends."""
    while w.going != NONE:
        j = w.going
        w.going = w.cell[j].next
        on = True
        while on:
            if w.still == _MOST_STILL:
                raise Stopped(Ending.STILL)
            w.still += 1
            on = _follow(w, j)
