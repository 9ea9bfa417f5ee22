"""Traces drawn from a picture of one request: spans within spans, in turn or at once."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from headway.records import dataclass

Step: TypeAlias = "float | Shape | Sequence[Step] | Callable[[random.Random], Step]"
"""Work of a mean time [ms], a span, spans at once, or one of these that is drawn."""

KINDS = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}


@dataclass(frozen=True)
class Shape:
    """A span and what happens within it.

    Parameters
    ----------
    kind, service, name
        As in OpenTelemetry.
    steps
        What it does, in turn.
    failed, waited
        Whether it failed, and whether who began it waits for its end.
    about
        Its attributes.
    """

    kind: str
    service: str
    name: str
    steps: tuple[Step, ...]
    failed: bool = False
    waited: bool = True
    about: tuple[tuple[str, str], ...] = ()


class Drawing:
    """Spans of requests, as they are drawn.

    Parameters
    ----------
    seed
        Of the random numbers.
    """

    def __init__(self, seed: int = 1) -> None:
        self.draws = random.Random(seed)
        self.spans: list[tuple[str, dict[str, Any]]] = []

    def identifier(self, digits: int) -> str:
        """A number in hexadecimal."""
        return f"{self.draws.getrandbits(4 * digits):0{digits}x}"

    def draw(
        self,
        step: Step,
        at: float,
        trace: str,
        parent: str = "",
        links: Sequence[tuple[str, str]] = (),
    ) -> float:
        """Draw a step that begins at some time [ms]; returns when it ends."""
        if isinstance(step, int | float):
            return at + self.draws.expovariate(1 / step)
        if isinstance(step, Shape):
            return self._span(step, at, (trace, parent), links)
        if callable(step):
            return self.draw(step(self.draws), at, trace, parent)
        return max((self.draw(each, at, trace, parent) for each in step), default=at)

    def _span(
        self, shape: Shape, at: float, above: tuple[str, str], links: Sequence[tuple[str, str]]
    ) -> float:
        (trace, parent), key, end = above, self.identifier(16), at
        for step in shape.steps:
            end = self.draw(step, end, trace, key)
        span = {
            "traceId": trace,
            "spanId": key,
            "parentSpanId": parent,
            "name": shape.name,
            "kind": KINDS[shape.kind],
            "startTimeUnixNano": str(round(at * 1e6)),
            "endTimeUnixNano": str(round(end * 1e6)),
            "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in shape.about],
            "links": [{"traceId": other, "spanId": itself} for other, itself in links],
            "status": {"code": 2} if shape.failed else {},
        }
        self.spans.append((shape.service, span))
        return end if shape.waited else at

    @property
    def key(self) -> str:
        """The identifier of the last span."""
        key: str = self.spans[-1][1]["spanId"]
        return key

    def last(self, start: float, end: float) -> None:
        """Let the last span last from one time to another [ms]."""
        self.spans[-1][1].update(
            startTimeUnixNano=str(round(start * 1e6)), endTimeUnixNano=str(round(end * 1e6))
        )

    def text(self) -> str:
        """The document of all spans."""
        services: dict[str, list[dict[str, Any]]] = {}
        for service, span in self.spans:
            services.setdefault(service, []).append(span)
        return json.dumps(
            {
                "resourceSpans": [
                    {
                        "resource": {
                            "attributes": [
                                {"key": "service.name", "value": {"stringValue": service}}
                            ]
                        },
                        "scopeSpans": [{"spans": spans}],
                    }
                    for service, spans in services.items()
                ]
            }
        )


def drawn(shape: Step, requests: int = 300, apart: float = 50.0) -> str:
    """A document of requests that come at random, some time apart [ms], each a trace."""
    drawing, at = Drawing(), 1.7e12
    for _ in range(requests):
        at += drawing.draws.expovariate(1 / apart)
        drawing.draw(shape, at, drawing.identifier(32))
    return drawing.text()
