"""All states of a layered system, and the moves between them: the twin of ``layered_states.c``.

A state is a forest of cells: requests, with the threads that serve them, and their tokens. It is
written in preorder, with a word for each cell, and equal states are written equally:

    word = ((((head 2^16 + position) 2^8 + left) 2^2 + role) 2^16 + children)

The head says where a token is, which entry a request waits for, or that a thread only waits for its
last branches. Words have positions in lines instead of identities, so equal jobs are not
distinguished. A state is read into cells, in which events happen one after another. Random choices
on the way are decided in advance, so that all outcomes are found one by one.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from enum import IntEnum

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.layers.states.cells import (
    OVER,
    Stopped,
    Walk,
    begin,
    decided_anew,
    go_on,
    leave,
    parted,
    settle,
    stand_behind,
    take,
)
from headway.queueing.layers.states.rows import Cell, Ending, Kind, Line, Order, Search
from headway.queueing.playing.rows import NONE, IntArray, read_rows, write_rows

CHILDREN, ROLE, LEFT, POSITION = 16, 2, 8, 16
"""Bits of the parts of a word, from the lowest; the head takes the remaining ones."""


class Role(IntEnum):
    """Relation of a cell to its parent in the tree."""

    ROOT = 0
    CALLED = 1
    BRANCHED = 2
    LOOSE = 3


_COUNTING = Kind.SPAWN, Kind.GATE


def _role(c: Cell, j: int) -> Role:
    if c.thread == j:
        return Role.ROOT if c.caller == NONE else Role.CALLED
    return Role.LOOSE if c.parent == NONE else Role.BRANCHED


def _parent_of(c: Cell, role: Role) -> int:
    return {Role.CALLED: c.caller, Role.BRANCHED: c.parent, Role.LOOSE: c.thread}.get(role, NONE)


def _word(w: Walk, j: int) -> int:
    c, head, left = w.cell[j], w.cell[j].address, 0
    if head >= 0:
        left = c.left if w.instruction[head].kind in _COUNTING else 0
    else:
        head = len(w.instruction) + c.entry + (0 if head == NONE else len(w.entry))
    word = (((head << POSITION) + c.position) << LEFT) + left
    return (((word << ROLE) + _role(c, j)) << CHILDREN) + c.children


def _stand(w: Walk, k: int, j: int, position: int) -> None:
    """Insert a job into a line by its position, as read from the word."""
    before = w.line[k].last
    while before != NONE and w.cell[before].position > position:
        before = w.cell[before].previous
    stand_behind(w, k, j, before)
    w.cell[j].position = position


def _read_tree(w: Walk, above: int, words: Iterator[int]) -> None:
    word, j = next(words), take(w, 0)
    word, children = word >> CHILDREN, word & (1 << CHILDREN) - 1
    word, role = word >> ROLE, Role(word & (1 << ROLE) - 1)
    word, w.cell[j].left = word >> LEFT, word & (1 << LEFT) - 1
    head, position = word >> POSITION, word & (1 << POSITION) - 1
    _link(w, j, above, role)
    _begin_at(w, j, head)
    _enter_lines(w, j, position)
    for _ in range(children):
        _read_tree(w, j, words)
    if parted(w, j):
        w.line[w.entry[w.cell[j].entry].task].serving -= 1


def _link(w: Walk, j: int, above: int, role: Role) -> None:
    """Link a cell to its parent: its caller, the token that it branched from, or its thread."""
    c = w.cell[j]
    c.caller = above if role is Role.CALLED else NONE
    c.parent = above if role is Role.BRANCHED else NONE
    if role is Role.LOOSE:
        c.thread = above
    elif role is Role.BRANCHED:
        c.thread = w.cell[above].thread


def _begin_at(w: Walk, j: int, head: int) -> None:
    """Set the address of a cell: an instruction, waiting for a thread, or over."""
    c, rest = w.cell[j], head - len(w.instruction)
    c.address = head if rest < 0 else NONE if rest < len(w.entry) else OVER
    c.entry = w.owner[head] if rest < 0 else rest % len(w.entry)
    w.cell[c.thread].tokens += c.address >= 0


def _enter_lines(w: Walk, j: int, position: int) -> None:
    """Put a cell into the line of its task and of its processor, or among those served there."""
    c = w.cell[j]
    if c.thread == j and c.address == NONE:
        _stand(w, w.entry[c.entry].task, j, position)
    elif c.thread == j:
        w.line[w.entry[c.entry].task].serving += 1
    if c.address < 0 or w.instruction[c.address].kind != Kind.SERVE:
        return
    if position:
        _stand(w, w.instruction[c.address].place, j, position)
    else:
        w.line[w.instruction[c.address].place].serving += 1


def _read_state(w: Walk, words: list[int]) -> None:
    """Read a state; events in equal trees, which are adjacent, are counted at the first of them."""
    w.fresh([], [Line() for _ in w.place])
    each, before, first = iter(words), list[int](), NONE
    while len(w.cell) < len(words):
        j = len(w.cell)
        _read_tree(w, NONE, each)
        tree = words[j : len(w.cell)]
        if tree == before:
            for n in range(len(tree)):
                w.cell[first + n].alike += 1
                w.cell[j + n].alike = 0
        else:
            first = j
        before = tree


def _sorted_words(w: Walk, below: dict[int, list[int]], j: int) -> list[int]:
    own = sorted(_sorted_words(w, below, child) for child in below.get(j, ()))
    w.cell[j].children = len(own)
    return [_word(w, j), *(word for words in own for word in words)]


def _written(w: Walk) -> list[int]:
    """The words of the state in the cells."""
    for place, line in zip(w.place, w.line, strict=True):
        j, position = line.first, 0
        while j != NONE:
            position += 1
            w.cell[j].position = 1 if place.order == Order.AT_RANDOM else position
            j = w.cell[j].next
    below: dict[int, list[int]] = {}
    for j, c in enumerate(w.cell):
        if c.thread != NONE:
            below.setdefault(_parent_of(c, _role(c, j)), []).append(j)
    trees = sorted(_sorted_words(w, below, j) for j in below.get(NONE, ()))
    return [word for tree in trees for word in tree]


class _SearchArrays:
    """The arrays of a search, as it fills them."""

    def __init__(
        self, search: Search, arrays: Sequence[IntArray], reals: Sequence[FloatArray]
    ) -> None:
        self.search = search
        self.words, self.starts, self.table, self.begins, self.targets, self.causes = arrays
        self.flows, ended = reals
        self.ended = ended.reshape(len(self.starts) - 1, -1) if len(ended) else ended
        self.number = {tuple(self.state(n)): n for n in range(search.states)}

    def state(self, n: int) -> list[int]:
        """The words of a state."""
        words: list[int] = self.words[self.starts[n] : self.starts[n + 1]].tolist()
        return words

    def number_of(self, state: list[int]) -> int:
        """The number of a state; new states are added."""
        search, words = self.search, tuple(state)
        if search.words + len(state) > len(self.words):
            raise Stopped(Ending.FULL)
        if words not in self.number:
            if search.states == search.most:
                raise Stopped(Ending.MANY)
            full = search.states + 1 >= len(self.starts) - 1
            if full or 2 * (search.states + 1) > len(self.table):
                raise Stopped(Ending.FULL)
            self.number[words] = search.states
            self.words[search.words : search.words + len(state)] = state
            search.states += 1
            search.words += len(state)
            search.listed = search.states
            self.starts[search.states] = search.words
        return self.number[words]


def _move(w: Walk, f: _SearchArrays, state: int, j: int, rate: float) -> None:
    """Add the moves for all outcomes of an event at a cell."""
    read, read_line, search = w.cell, w.line, f.search
    w.decided, more = 0, True
    while more:
        w.fresh([copy(c) for c in read], [copy(line) for line in read_line])
        instruction = w.instruction[w.cell[j].address]
        if instruction.kind == Kind.SERVE:
            leave(w, instruction.place, j)
        go_on(w, j)
        settle(w)
        target = f.number_of(_written(w))
        if search.moves == len(f.targets):
            raise Stopped(Ending.FULL)
        f.targets[search.moves], f.flows[search.moves] = target, rate * w.odds
        ended = w.ends[0] + 1 if w.ends else 0
        f.causes[search.moves] = read[j].address * (len(w.entry) + 1) + ended
        search.moves += 1
        for entry in w.ends:
            f.ended[state, entry] += rate * w.odds
        more = decided_anew(w)
    w.cell, w.line = read, read_line


def _rate(w: Walk, c: Cell) -> float:
    """The rate at which the present instruction of a cell ends; 0 if it waits."""
    if c.address < 0:
        return 0.0
    instruction = w.instruction[c.address]
    if instruction.kind == Kind.WAIT:
        return w.rate[c.address]
    if instruction.kind != Kind.SERVE:
        return 0.0
    place = w.place[instruction.place]
    if place.order == Order.SHARED:
        share = float(place.servers) / float(w.line[instruction.place].serving)
        return w.rate[c.address] * min(share, 1.0)
    waits = c.position > (place.servers if place.interrupts else 0)
    return 0.0 if waits else w.rate[c.address]


def _explore(w: Walk, f: _SearchArrays, state: int) -> None:
    search = f.search
    f.ended[state] = 0
    f.begins[state] = f.begins[state + 1] = search.moves
    try:
        _read_state(w, f.state(state))
        for j, c in enumerate(w.cell):
            rate = _rate(w, c) * c.alike
            if rate > 0:
                _move(w, f, state, j, rate)
    except Stopped:
        f.begins[state + 1], search.moves = search.moves, int(f.begins[state])
        raise
    f.begins[state + 1] = search.moves


def _open(w: Walk, f: _SearchArrays) -> None:
    """Add the initial state, in which all clients start."""
    w.fresh([], [Line() for _ in w.place])
    for entry, clients in enumerate(w.clients):
        for _ in range(clients):
            j = take(w, entry)
            w.line[w.entry[entry].task].serving += 1
            begin(w, j)
    w.decided = 0
    settle(w)
    f.number_of(_written(w))


def _explored(w: Walk, f: _SearchArrays, most: int) -> Ending:
    search = f.search
    try:
        if search.states == 0:
            _open(w, f)
        for _ in range(most):
            if search.explored == search.states:
                return Ending.WHOLE
            _explore(w, f, search.explored)
            search.explored += 1
    except Stopped as why:
        return why.reason
    return Ending.SOME


@compiled
def explore_program(
    instructions: IntArray,
    ways: IntArray,
    entries: IntArray,
    places: IntArray,
    owners: IntArray,
    rates: FloatArray,
    chances: FloatArray,
    clients: IntArray,
    search: IntArray,
    words: IntArray,
    starts: IntArray,
    table: IntArray,
    begins: IntArray,
    targets: IntArray,
    flows: FloatArray,
    ended: FloatArray,
    cells: IntArray,
    lines: IntArray,
    causes: IntArray,
    most: int,
) -> None:
    """Find states until all are known, a number of them is explored, or an array is full.

    Parameters
    ----------
    instructions, ways, entries, places
        Arrays of a `LayeredScore`, with rows as flat int64.
    owners
        The entry of each instruction.
    rates, chances
        Rate of each instruction that takes time [1/s], and probability of each way.
    clients
        Number of clients of each entry.
    search
        A row of `Search`.
    words, starts
        The words of all states, and where each state begins.
    table
        Hash table of states; the Python twin does not need it.
    begins, targets, flows
        Moves out of each state: where they begin, the states that they lead to, and their rates
        [1/s].
    ended
        The rate at which clients' cycles end, by state and entry [1/s].
    cells, lines
        Work space for two states as cells, and for two of every line.
    causes
        For each move, the number of the instruction that ends, times the number of entries plus 1,
        plus the number of the entry whose client's cycle ends, counted from 1, or 0 for none.
    most
        Number of states to explore.
    """
    del lines  # used by the kernel only
    program = (instructions, ways, entries, places, owners, clients)
    walk = Walk(program, rates, chances)
    walk.cells = len(cells) // len(Cell.__slots__) // 2
    one = read_rows(Search, search)[0]
    one.listed = one.states
    arrays = (words, starts, table, begins, targets, causes)
    with np.errstate(all="ignore"):
        one.reason = _explored(walk, _SearchArrays(one, arrays, (flows, ended)), most)
    write_rows(Search, search, [one])
