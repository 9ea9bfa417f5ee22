"""Minimum cuts of small networks of whole capacities, by augmenting paths."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

Network = Mapping[Hashable, Mapping[Hashable, float]]
"""Capacities of the edges from each node to others; infinite for no limit."""


def smallest_cut(network: Network, start: Hashable, end: Hashable) -> set[tuple[Any, Any]]:
    """The edges of a minimum cut between two nodes; if there are several, the nearest to the end.

    Augment along shortest paths until none is left (Edmonds and Karp, JACM 19(2), 1972, 248-264):
    the edges into the nodes that can still reach the end are a minimum cut.

    Parameters
    ----------
    network
        The network, in which every path from the start to the end has an edge with a limit.

    Examples
    --------
    >>> narrow = {"from": {"a": 3, "b": 2}, "a": {"to": 1}, "b": {"to": 9}}
    >>> sorted(smallest_cut(narrow, "from", "to"))
    [('a', 'to'), ('from', 'b')]
    """
    left: dict[Hashable, dict[Hashable, float]] = {start: {}, end: {}}
    for a, onward in network.items():
        into = left.setdefault(a, {})
        for b, most in onward.items():
            into[b] = into.get(b, 0) + most
            left.setdefault(b, {}).setdefault(a, 0)
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
    """The edges on ways that lead to a node, each once.

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


def _reaching(end: Hashable, before: Callable[[Hashable], Iterable[Hashable]]) -> set[Hashable]:
    """Nodes that can reach a node, including itself."""
    found, todo = {end}, [end]
    while todo:
        more = set(before(todo.pop())) - found
        found |= more
        todo += more
    return found


def _path(
    left: Mapping[Hashable, Mapping[Hashable, float]], start: Hashable, end: Hashable
) -> list[tuple[Hashable, Hashable]]:
    """The edges of a shortest augmenting path; empty if there is none."""
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
