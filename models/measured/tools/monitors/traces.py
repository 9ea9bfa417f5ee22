"""Traces of OpenTelemetry (OTLP), Jaeger and Zipkin: a rate and times for each service.

A service's requests are those that the model of its traces has (`headway.models.tracing`): its
spans of kind server or consumer, and its spans without a caller in the same service.
"""

import math
from collections.abc import Iterator
from functools import partial
from io import StringIO

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.spans.columns import BoolArray, Spans, serves
from headway.models.measured.spans.files import SpanFiles
from headway.models.measured.spans.form import Form
from headway.models.measured.spans.forms import FORMS
from headway.models.measured.tools.kit.timeline import Timeline
from headway.numerals import counted, four_digits

_PERCENTS = (50.0, 90.0, 95.0, 99.0)
_BEYOND = 10  # requests slower than a percentile, below which it is not stated
_REQUESTS = (
    "Its requests are spans of kind server or consumer, and spans without a caller in the service; "
    "the times include failed requests, the rate excludes them."
)


def points_of_load(spans: Spans, form: str) -> Iterator[Point]:
    """A point for each service, from the requests that it served.

    Parameters
    ----------
    spans, form
        The spans of a load, and the form in which they were written.
    """
    serving = serves(spans)
    window = float(spans.end.max() - spans.start.min()) if len(spans) else 0.0
    stored = (
        f"The rate is that of the stored traces, {four_digits(100 * spans.sampled)}% of all."
        if spans.sampled < 1
        else "The rate is that of the stored traces: sampling makes it too low."
    )
    traces = len(np.unique(spans.trace)) + spans.left_out
    left_out = f"{counted(spans.left_out, 'trace')} of {traces} left out: {spans.why}."
    notes = (_REQUESTS, stored, *([left_out] if spans.left_out else []))
    for number, name in enumerate(spans.services):
        rows = np.flatnonzero(serving & (spans.service == number))
        if len(rows):
            times, good = (spans.end - spans.start)[rows], ~spans.failed[rows]
            yield _point(form, name, (spans.start[rows], times, good), window, notes)


def _point(
    form: str,
    name: str,
    requests: tuple[FloatArray, FloatArray, BoolArray],
    window: float,
    notes: tuple[str, ...],
) -> Point:
    start, times, good = requests
    count, failed = len(times), float((~good).sum())
    line = Timeline()
    line.add(start, times, good.astype(float))
    ordered = np.sort(times)
    enough = [q for q in _PERCENTS if count * (1 - q / 100) >= _BEYOND - 1e-9]
    return Point(
        form,
        throughput=(count - failed) / window if count > 1 and window else None,
        response_time=math.fsum(times) / count,
        percentiles={q: float(ordered[math.ceil(q / 100 * count - 1e-9) - 1]) for q in enough},
        errors=failed,
        samples=float(count),
        duration=window or None,
        with_failures=failed > 0,
        name=name,
        course=line.course(),
        notes=notes,
    )


def _read(form: Form, text: str, source: str) -> list[Point]:
    files = SpanFiles()
    # StringIO keeps the other line ends that text may contain
    files.file(source, StringIO(text), form)
    if not files.rows:
        msg = f"{source}: it has no spans; export at least one trace"
        raise MeasurementError(msg)
    files.check_times(source)
    return [
        point for load in files.loads() for point in points_of_load(files.spans(load), load.form)
    ]


(
    UNDERSCORED,
    OTLP,
    JAEGER,
    ZIPKIN,
    PYTHON,
    GO,
    CLICKHOUSE,
    CLICKHOUSE_CSV,
    RCAEVAL,
    NEZHA,
) = (
    tool_reader(
        f"{form.name} traces",
        form.recognises,
        partial(_read, form),
        "one point per service: rate, mean and percentiles",
    )
    for form in FORMS
)
