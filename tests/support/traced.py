"""Played services as headway has them: their spans without a file, and their model by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.models.measured.spans.columns import LOST, ROOT, Spans
from headway.models.reading.traces import Read
from tests.oracles.traced_services import CLIENT, PRODUCER, Played, PlayedLoad, PlayedSpan, Stage

PEER = "somebody"
"""Whom every client says that it asks."""


def read_of(loads: Sequence[PlayedLoad]) -> Read:
    """The spans of some loads, as the reader makes them of their files."""
    spans = [[span for trace in load.traces for span in trace] for load in loads]
    services = dict.fromkeys(each.service for load in spans for each in load)
    operations = dict.fromkeys(each.name for load in spans for each in load)
    number = {name: k for names in (services, operations) for k, name in enumerate(names)}
    first = min(each.start for load in spans for each in load)
    return Read(
        tuple(
            _spans(f"load{k}", each, number, (tuple(services), tuple(operations)), first)
            for k, each in enumerate(spans)
        ),
        0.0,
        (),
    )


def _spans(
    name: str,
    spans: Sequence[PlayedSpan],
    number: dict[str, int],
    names: tuple[tuple[str, ...], tuple[str, ...]],
    first: float,
) -> Spans:
    row = {span.key: k for k, span in enumerate(spans)}
    traces: dict[str, int] = {}
    kind = np.array([span.kind for span in spans])
    return Spans(
        name,
        trace=np.array([traces.setdefault(span.trace, len(traces)) for span in spans]),
        parent=np.array([row.get(s.parent, LOST) if s.parent else ROOT for s in spans]),
        linked=np.zeros(len(spans), bool),
        service=np.array([number[span.service] for span in spans]),
        operation=np.array([number[span.name] for span in spans]),
        kind=kind,
        peer=np.where(np.isin(kind, (CLIENT, PRODUCER)), 1, 0),
        start=np.array([span.start for span in spans]) - first,
        end=np.array([span.end for span in spans]) - first,
        failed=np.array([span.failed for span in spans]),
        received=np.zeros(len(spans), bool),
        services=names[0],
        operations=names[1],
        peers=("", PEER),
    )


def document_of(played: Played, rate: float) -> dict[str, Any]:
    """Its model file, at a rate from outside: each slice of work exponential, as it is played."""
    tasks: dict[str, Any] = {}
    for name, entry in played.entries.items():
        threads = int(played.threads[entry.service])
        task = tasks.setdefault(
            entry.service, {"processor": "all", "threads": threads, "entries": {}}
        )
        work = f"{entry.work / (1 + sum(stage.mean for stage in entry.stages))} s"
        steps: dict[str, Any] = {}
        flow = [_flow(stage, work, played.network, steps) for stage in entry.stages]
        own = {"flow": [*flow, _step(steps, {"demand": work})], "activities": steps}
        if name in played.roots:
            own["arrival_rate"] = f"{rate * played.roots[name]} /s"
        task["entries"][_plain(name)] = own
    return {"name": "played", "processors": {"all": {"servers": "unlimited"}}, "tasks": tasks}


def _flow(stage: Stage, work: str, network: float, steps: dict[str, Any]) -> Any:
    """The flow of a stage: work, then its calls, as often as it comes."""

    def once() -> list[Any]:
        calls = [
            _step(
                steps,
                {
                    "demand": 0,
                    "think_time": f"{network} s",
                    "calls": {_plain(callee): 1},
                    "fixed": True,
                },
            )
            for callee in stage.callees
        ]
        return [_step(steps, {"demand": work}), {"together": calls} if calls[1:] else calls[0]]

    match stage.law:
        case "fixed":
            return [part for _ in range(round(stage.mean)) for part in once()]
        case "maybe":
            return {"choice": [[stage.mean, once()], [1 - stage.mean, []]]}
        case _:
            return {"loop": once(), "times": stage.mean}


def _step(steps: dict[str, Any], step: dict[str, Any]) -> str:
    name = f"step{len(steps)}"
    steps[name] = step
    return name


def _plain(name: str) -> str:
    return name.replace(" ", "_")
