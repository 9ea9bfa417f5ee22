"""Clocks that are off: corrected so that each answer lies within the call that it answers.

A server's span lies within its client's. With an offset d of the server's clock,

    c.start <= s.start + d,   s.end + d <= c.end,

so each call bounds d from both sides, provided that its caller waited for the answer. Where d = 0
meets nearly all bounds the clocks are left alone; elsewhere d is the median of the bounds'
midpoints, as if a request took as long on its way there as its answer took on its way back.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import Spans, gives_up, serves
from headway.models.measured.spans.span import SpanKind
from headway.records import dataclass

_RARE = 0.01
"""Share of calls that may break causality before a clock is taken to be off: timers are not read in
a fixed order with the first and last byte of a request."""
_FEW = 10  # calls below which a clock's offset is not estimated


@dataclass(frozen=True)
class Offset:
    """How far a service's clock was corrected.

    Parameters
    ----------
    service
        The service whose spans were moved.
    by
        Time added to the start and end of its spans [s].
    within
        Half of the time between the bounds that most calls allow [s].
    """

    service: str
    by: float
    within: float


def corrected(spans: Spans) -> tuple[Spans, tuple[Offset, ...]]:
    """Spans with every service's clock set to that of the majority, and the corrections made.

    Parameters
    ----------
    spans
        The spans of one load.
    """
    child = np.flatnonzero(serves(spans) & (spans.parent >= 0))
    above = spans.parent[child]
    asked = np.isin(spans.kind[above], (SpanKind.CLIENT, SpanKind.PRODUCER))
    waits = (spans.kind[above] != SpanKind.PRODUCER) & ~spans.linked[child]
    waits &= ~gives_up(spans, above, child)
    child, above = child[asked & waits], above[asked & waits]
    low = spans.start[above] - spans.start[child]
    high = spans.end[above] - spans.end[child]
    callers, callees = spans.service[above], spans.service[child]
    known: dict[int, float] = {}
    slack: dict[int, float] = {}
    apart = np.unique((callers * len(spans.services) + callees)[callers != callees])
    pairs = [divmod(code, len(spans.services)) for code in apart.tolist()]
    for first in dict.fromkeys(a for a, _ in pairs):
        if first in known:
            continue
        known[first] = 0.0
        queue = deque([first])
        while queue:
            at = queue.popleft()
            for a, b in pairs:
                if at not in (a, b) or {a, b} <= known.keys():
                    continue
                rows = (callers == a) & (callees == b)
                by, within = _offset(low[rows], high[rows])
                other, sign = (b, 1.0) if at == a else (a, -1.0)
                known[other] = known[at] + sign * by
                queue.append(other)
                slack[other] = within
                slack.setdefault(at, within)
    usual = _middle(list(known.values()))  # most clocks are right
    known = {service: by - usual for service, by in known.items()}
    offsets = [Offset(spans.services[s], by, slack.get(s, 0.0)) for s, by in known.items() if by]
    if not offsets:
        return spans, ()
    move = np.zeros(len(spans.services))
    move[list(known)] = list(known.values())
    by_row = move[spans.service]
    return replace(spans, start=spans.start + by_row, end=spans.end + by_row), tuple(offsets)


def _middle(offsets: Sequence[float]) -> float:
    """The median; of two middle values the one nearer to 0, which is the first caller's clock."""
    ordered, half = sorted(offsets), len(offsets) // 2
    return min(ordered[max(len(ordered) - half - 1, 0) : half + 1], key=abs, default=0.0)


def _offset(low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Offset to add to the callee's clock, and its half-width; 0 where nearly all calls allow 0."""
    if len(low) < _FEW or np.mean((low > 0) | (high < 0)) <= _RARE:
        return 0.0, 0.0
    return float(np.median((low + high) / 2)), float(np.median((high - low) / 2))
