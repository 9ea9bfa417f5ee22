"""What is no trace in a form that is read: plainly something else, or nearly one."""

import codecs
import re

from headway.models.measured.spans.form import HEAD

_TRACES = re.compile(r'"resourceSpans"|"trace_?id"', re.IGNORECASE)
_SIGNALS = re.compile(r'\{\s*"resource(?:Metrics|Logs|Profiles)"|\{\s*"status"\s*:\s*"success"')
"""What a collector writes besides traces, and answers of Prometheus."""
_PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"%PDF-")


def surely_no_traces(content: bytes) -> bool:
    r"""Whether a file that no form recognises is plainly something else, by its beginning.

    Plain text, tables, pictures, and a collector's metrics and logs are. Any other JSON may be
    traces cut off, and bytes may be traces in another encoding.

    Examples
    --------
    >>> surely_no_traces(b"# Traces of the shop"), surely_no_traces(b'{"resourceMetrics": []}')
    (True, True)
    >>> surely_no_traces(b'{"batches": []}'), surely_no_traces(b"\x0a\xe2\x03")
    (False, False)
    """
    if content.startswith(_PICTURES):
        return True
    head = content[:HEAD]
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head).lstrip()
    except UnicodeDecodeError:
        return False
    if "\0" in text or _TRACES.search(text):
        return False
    return text[:1] not in ("{", "[") or _SIGNALS.match(text) is not None


_OTHERS = (
    (
        re.compile(r'"Segments"\s*:\s*\[|"trace_id"\s*:\s*"1-[0-9a-f]{8}-[0-9a-f]{24}"'),
        "X-Ray's segments; let OpenTelemetry's collector receive them (awsxray) and write "
        "OTLP JSON",
    ),
    (
        re.compile(r'"traceSegmentId"|"segmentId"\s*:'),
        "SkyWalking's segments; let its agents report to OpenTelemetry's collector (skywalking), "
        "and that write OTLP JSON",
    ),
    (
        re.compile(r'"_dd\.|"meta"\s*:\s*\{[^{}]*"span\.kind"'),
        "Datadog's spans; let OpenTelemetry's collector receive them (datadog) and write OTLP JSON",
    ),
    (
        re.compile(r'"operationName"\s*:.*"startTime"\s*:\s*"\d{4}-', re.DOTALL),
        "Jaeger's own structures; ask its API for /api/traces, or write OTLP JSON",
    ),
    (
        re.compile(r'"(?:rootServiceName|spanSets?)"'),
        "a search answers only what matches it; ask Tempo for each trace, by /api/traces/ID",
    ),
)
"""Marks of what is nearly a form, and how to mend it."""


def nearly(text: str) -> str:
    """How to mend a text that no form recognises; empty if it is like none.

    Parameters
    ----------
    text
        Its beginning.

    Examples
    --------
    >>> nearly('{"traces": [{"traceID": "a1", "rootServiceName": "web"}]}')
    'a search answers only what matches it; ask Tempo for each trace, by /api/traces/ID'
    """
    return next((mend for mark, mend in _OTHERS if mark.search(text[:HEAD])), "")
