"""Smallest cuts of small networks of whole capacities, by paths that let more through."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

Network = Mapping[Hashable, Mapping[Hashable, float]]
"""Capacities from each node to others; infinite where there is no limit."""


def smallest_cut(network: Network, start: Hashable, end: Hashable) -> set[tuple[Any, Any]]:
    """The edges of a smallest cut between two nodes; of several the nearest to the end.

    By the shortest path that lets more through, until there is none (Edmonds and Karp, JACM 19(2),
    1972, 248-264): then the edges into what still reaches the end are a smallest cut.

    Parameters
    ----------
    network
        In which no path of edges without limit leads from the start to the end.

    Examples
    --------
    >>> narrow = {"from": {"a": 3, "b": 2}, "a": {"to": 1}, "b": {"to": 9}}
    >>> sorted(smallest_cut(narrow, "from", "to"))
    [('a', 'to'), ('from', 'b')]
    """
    kept = _reaching(end, _before(network))
    left: dict[Hashable, dict[Hashable, float]] = {node: {} for node in kept | {start}}
    for a, onward in network.items():
        for b, most in onward.items():
            if a in kept and b in kept:
                left[a][b] = left[a].get(b, 0) + most
                left[b].setdefault(a, 0)
    while path := _path(left, start, end):
        most = min(left[a][b] for a, b in path)
        for a, b in path:
            left[a][b] -= most
            left[b][a] += most
    far = _reaching(end, lambda b: (a for a in left[b] if left[a][b] > 0))
    return {(a, b) for b in far for a in left[b] if a not in far and b in network.get(a, ())}


def leading(
    edges: Iterable[tuple[Hashable, Hashable]], end: Hashable
) -> tuple[tuple[Hashable, Hashable], ...]:
    """The edges from which a way leads to a node, each once.

    Examples
    --------
    >>> leading([("a", "b"), ("b", "to"), ("a", "c"), ("a", "b")], "to")
    (('a', 'b'), ('b', 'to'))
    """
    before: dict[Hashable, list[Hashable]] = {}
    each = tuple(dict.fromkeys(edges))
    for a, b in each:
        before.setdefault(b, []).append(a)
    kept = _reaching(end, lambda b: before.get(b, ()))
    return tuple((a, b) for a, b in each if b in kept)


def _before(network: Network) -> Callable[[Hashable], Iterable[Hashable]]:
    """Nodes with an edge to one."""
    found: dict[Hashable, list[Hashable]] = {}
    for a, onward in network.items():
        for b in onward:
            found.setdefault(b, []).append(a)
    return lambda b: found.get(b, ())


def _reaching(end: Hashable, before: Callable[[Hashable], Iterable[Hashable]]) -> set[Hashable]:
    """Nodes from which a way leads to one, itself included."""
    found, todo = {end}, [end]
    while todo:
        more = set(before(todo.pop())) - found
        found |= more
        todo += more
    return found


def _path(
    left: Mapping[Hashable, Mapping[Hashable, float]], start: Hashable, end: Hashable
) -> list[tuple[Hashable, Hashable]]:
    """The edges of a shortest path with room; empty where there is none."""
    came: dict[Hashable, Hashable] = {start: start}
    todo = deque([start])
    while todo:
        a = todo.popleft()
        for b, most in left[a].items():
            if most > 0 and b not in came:
                came[b] = a
                if b == end:
                    return list(_edges(came, start, end))
                todo.append(b)
    return []


def _edges(
    came: Mapping[Hashable, Hashable], start: Hashable, end: Hashable
) -> Iterable[tuple[Hashable, Hashable]]:
    while end != start:
        yield came[end], end
        end = came[end]
