"""Which span caused each span: by identifiers, and by links to whoever sent it a message."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.models.measured.spans.columns import LOST, ROOT, BoolArray, IntArray, tops
from headway.models.measured.spans.span import SpanKind


class Links(NamedTuple):
    """Links that are not the cause of the span which has them.

    Parameters
    ----------
    linking
        Rows of these spans.
    trace, key
        The trace and the identifier to which each links.
    """

    linking: IntArray
    trace: IntArray
    key: NDArray[Any]


class Family(NamedTuple):
    """The parent of each span.

    Parameters
    ----------
    kept
        Rows whose identifier is new in its trace.
    parent
        Index among them of each row's parent.
    others
        All other rows, and the kept row with the same identifier.
    links
        For each link whose other end is there, the index of the span that has it, and of the other.
    """

    kept: IntArray
    parent: IntArray
    others: tuple[IntArray, IntArray]
    links: tuple[IntArray, IntArray]


def family_of(
    trace: IntArray, key: NDArray[Any], parents: tuple[NDArray[Any], IntArray], links: Links
) -> Family:
    """Find spans by identifiers: parents in the traces of their causes, and what is linked to.

    Parameters
    ----------
    trace, key
        The trace of each span, and its identifier.
    parents
        The identifier of each span's parent, 0 for none, and the trace in which that is.
    links
        Links besides.
    """
    n, parent = len(trace), parents[0]
    both = np.concatenate([key, parent, links.key])
    scope = np.concatenate([trace, parents[1], links.trace])
    order = np.lexsort((both, scope))  # stable: of equal ones the first row comes first
    new = np.ones(len(both), bool)
    new[1:] = (np.diff(both[order]) != 0) | (np.diff(scope[order]) != 0)
    leader = np.empty(len(both), np.int64)
    leader[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(both)), 0))]
    others = np.flatnonzero(leader[:n] != np.arange(n))
    kept = np.flatnonzero(leader[:n] == np.arange(n))
    place = np.full(len(both), LOST)
    place[kept] = np.arange(len(kept))
    caused = np.where(parent[kept] == 0, ROOT, place[leader[n + kept]])
    linking, linked_to = place[links.linking], place[leader[2 * n :]]
    there = (linking >= 0) & (linked_to >= 0)
    return Family(kept, caused, (others, leader[others]), (linking[there], linked_to[there]))


def received_within(
    trace: IntArray,
    parent: IntArray,
    linked: BoolArray,
    links: tuple[IntArray, IntArray],
    said: tuple[IntArray, IntArray],
) -> tuple[IntArray, BoolArray]:
    """Parents, and whether links give them, where consumers link to senders from within a trace.

    Whoever receives messages often begins a trace, and has a span for each message in it, which
    links to its sender. Then the first sender is the cause of that trace, unless a server began it.

    Parameters
    ----------
    trace, parent, linked
        The trace of each span, its parent, and whether a link gives it.
    links
        Each link's span, and the span that it links to.
    said
        The service and the kind of each span.
    """
    (linking, sender), (service, kind) = links, said
    top = tops(parent)[linking]
    receives = (kind[linking] == SpanKind.CONSUMER) & (kind[top] != SpanKind.SERVER)
    receives &= (parent[top] == ROOT) & (service[top] == service[linking])
    receives &= trace[sender] != trace[top]
    begun, first = np.unique(top[receives], return_index=True)
    parent, linked = parent.copy(), linked.copy()
    parent[begun], linked[begun] = sender[receives][first], True
    return parent, linked


def followed(trace: IntArray, parent: IntArray, linked: BoolArray) -> tuple[IntArray, IntArray]:
    """Traces and parents, with traces that are linked to others becoming parts of these.

    Links to spans that are in no file, and circular links, are not followed.

    Parameters
    ----------
    trace, parent, linked
        The trace of each span, its parent, and whether a link gives it.
    """
    if not linked.any():
        return trace, parent
    parent = np.where(linked & (parent == LOST), ROOT, parent)
    parent = np.where(linked & (parent[tops(parent)] >= 0), ROOT, parent)
    return trace[tops(parent)], parent
