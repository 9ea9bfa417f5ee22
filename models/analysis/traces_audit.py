"""Traces audited: clocks, callers, sampling and spans, and whether each load is steady."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from headway.models.analysis.audit import Audit, findings_in
from headway.models.auditing.finding import most_severe_first
from headway.models.measured.points import Point
from headway.models.measured.spans.columns import Spans, serves
from headway.models.measured.tools.kit.timeline import Timeline
from headway.models.reading.loadtest import LoadTest
from headway.models.tracing.findings import findings_of_traces
from headway.models.tracing.loads import read_loads
from headway.models.tracing.services import services_of

TOOL = "traces"
"""The tool that points of an audit of traces come from, by name."""


def audit_traces(places: Sequence[str], advance: Callable[[], None] = lambda: None) -> Audit:
    """Check traces for anything that would make a model of them misleading.

    Each service in each load is a point, whose requests are checked like those of a load test.

    Parameters
    ----------
    places
        Files, folders, patterns and archives of traces; each file is a load.
    advance
        Called after each megabyte of a long file.

    Raises
    ------
    MeasurementError
        For files that are not traces, or are damaged.
    """
    read = read_loads(places, None, advance)
    points = [point for spans in read.loads for point in _points(spans)]
    test = LoadTest(tuple(sorted(points, key=lambda point: point.load)))
    found = findings_of_traces(services_of(read.loads), read.passed_over)
    return Audit(test, most_severe_first([*findings_in(test.points), *found]))


def _points(spans: Spans) -> Iterator[Point]:
    """A point for each service, from the requests that it served."""
    serving, window = serves(spans), float(np.ptp(spans.start))
    for number, name in enumerate(spans.services):
        rows = np.flatnonzero(serving & (spans.service == number))
        if not len(rows):
            continue
        times, good = (spans.end - spans.start)[rows], ~spans.failed[rows]
        line = Timeline()
        line.add(spans.start[rows], times, good.astype(float))
        yield Point(
            TOOL,
            throughput=float(good.sum()) / window if window else None,
            response_time=float(times.mean()),
            errors=float((~good).sum()),
            samples=float(len(rows)),
            duration=window or None,
            with_failures=not good.all(),
            name=name,
            file=spans.name,
            course=line.course(),
        )
