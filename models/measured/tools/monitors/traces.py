"""Traces of OpenTelemetry (OTLP), Jaeger and Zipkin: a rate and times for each service.

A service's requests are its spans of kind server or consumer; if it marks none, its spans without a
caller in the same service. Traces as a model of services are `headway.models.tracing`.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from io import StringIO

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.spans.forms import JAEGER as JAEGER_FORM
from headway.models.measured.spans.forms import OTLP as OTLP_FORM
from headway.models.measured.spans.forms import ZIPKIN as ZIPKIN_FORM
from headway.models.measured.spans.forms import Form, documents
from headway.models.measured.spans.span import BrokenSpan, Span, check_broken
from headway.numerals import counted

_PERCENTS = (50.0, 90.0, 95.0, 99.0)
_NANO = 1e-9


def _read(form: Form, text: str, source: str) -> list[Point]:
    lines = StringIO(text)  # StringIO keeps the other line ends that text may contain
    read = [span for each in documents(lines, source) for span in form.spans(each, source)]
    if not read:
        msg = f"{source}: it has no spans; export at least one trace"
        raise MeasurementError(msg)
    spans, left_out = _sound(read)
    window = (max(s.end for s in spans) - min(s.start for s in spans)) * _NANO
    home = {(span.trace, span.key): span.service for span in spans}
    services = dict.fromkeys(span.service for span in spans)
    return [
        _point(form.name, name, [s for s in spans if s.service == name], home, (window, left_out))
        for name in services
    ]


def _sound(read: Sequence[Span | BrokenSpan]) -> tuple[list[Span], str]:
    """Spans of traces without a broken one, and what was left out; refused if too much is."""
    broken = {span.trace: span for span in read if isinstance(span, BrokenSpan)}
    if not broken:
        return [span for span in read if isinstance(span, Span)], ""
    if "" in broken:  # their traces are not known
        raise broken[""]
    traces = len({span.trace for span in read})
    check_broken(broken.values(), traces)
    spans = [span for span in read if isinstance(span, Span) and span.trace not in broken]
    why = next(iter(broken.values())).why
    return spans, f"{counted(len(broken), 'trace')} of {traces} left out: {why}."


def _point(
    tool: str,
    name: str,
    spans: Sequence[Span],
    home: Mapping[tuple[str, str], str],
    about: tuple[float, str],
) -> Point:
    window, left_out = about
    serving = [span for span in spans if span.kind.serves]
    mine = serving or [span for span in spans if home.get((span.trace, span.parent)) != name]
    lengths = sorted((span.end - span.start) * _NANO for span in mine or spans)
    count = len(lengths)
    failed = sum(span.failed for span in mine or spans)
    which = (
        "spans of kind server or consumer" if serving else "spans without a caller in the service"
    )
    enough = [q for q in _PERCENTS if count * (1 - q / 100) >= 1 - 1e-9]
    return Point(
        tool,
        throughput=(count - failed) / window if count > 1 and window else None,
        response_time=math.fsum(lengths) / count,
        percentiles={q: lengths[math.ceil(q / 100 * count - 1e-9) - 1] for q in enough},
        errors=float(failed),
        samples=float(count),
        duration=window or None,
        with_failures=failed > 0,
        name=name,
        notes=(
            f"Its requests are {which}; the times include failed requests, the rate excludes them.",
            "The rate is that of the stored traces: sampling makes it too low.",
            *([left_out] if left_out else []),
        ),
    )


OTLP, JAEGER, ZIPKIN = (
    tool_reader(
        f"{form.name} traces",
        form.recognises,
        partial(_read, form),
        "one point per service: rate, mean and percentiles",
    )
    for form in (OTLP_FORM, JAEGER_FORM, ZIPKIN_FORM)
)
