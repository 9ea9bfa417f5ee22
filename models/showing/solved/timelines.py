"""A load over time described: one row per period, and sentences on the worst part and the whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from headway.models.language.scales import Scale
from headway.models.language.units import ONE, Unit, unit
from headway.models.over.timeline import Periods, Scaling, Timeline
from headway.models.tables.description import (
    Description,
    Field,
    Records,
    Writer,
    common,
    field,
    scaled,
    words,
)
from headway.models.tables.table import Table
from headway.numerals import digits, significant

SECOND, RATE, SHARE = unit("s"), unit("op/s"), unit("%")
LONG = 7200.0
"""Length of a day from which times are shown as on a clock [s]. Chosen."""

_DATED = 1e8
"""Time from which a time counts as one since 1970, in UTC [s]: three years. Chosen."""

INTERVAL = (2.5, 97.5)

_CLIENTS: dict[str, tuple[Unit, str | None, Writer | None]] = {
    "goodput": (RATE, "goodput", common),
    "attempts": (ONE, "attempts", scaled),
    "abandonment": (SHARE, "given up", common),
    "wasted_work": (ONE, None, None),
    "breaker_refusals": (SHARE, "refused", common),
    "breaker_open": (SHARE, "breaker open", common),
    "breaker_openings": (unit("openings/s"), None, None),
}
"""How the outputs of clients that give up are shown: unit, column title, and number format."""


def describe(timeline: Timeline) -> Description:
    """One row per period."""
    return Description(
        records=lambda: _records(timeline.periods),
        scale=lambda: _scale(timeline),
        tables=lambda scale: [_table(timeline, scale)],
        document=lambda rows: _document(timeline, rows),
    )


def percent_name(percent: float) -> str:
    """The name of a percentile of the response time.

    Examples
    --------
    >>> percent_name(99.0)
    'response_time_p99'
    """
    return f"response_time_p{digits(percent)}"


def is_clock(at: float, length: float) -> bool:
    """Whether a point in time is shown as on a clock: on a long day, or as a time since 1970."""
    return length >= LONG or at > _DATED


def moment(at: float, length: float) -> str:
    """A point in time as people read it, on a day of this length.

    Examples
    --------
    >>> moment(45000, 86400), moment(45, 120), moment(1772409545.5, 120)
    ('12:30', '45', '23:59:05.5')
    """
    if not is_clock(at, length):
        return digits(at)
    if length < LONG:
        minutes, second = divmod(round(at % 86400, 3), 60)
        clock = f"{minutes // 60:02.0f}:{minutes % 60:02.0f}:{second:06.3f}"
        return clock.rstrip("0").rstrip(".")
    minutes = round(at / 60)
    days, rest = divmod(minutes, 1440)
    clock = f"{rest // 60:02d}:{rest % 60:02d}"
    is_end = days == 1 and rest == 0 and length <= 86400
    shown = days and not is_end and days < 1000
    if at % 60 and length < 24 * 3600:
        clock += f":{round(at) % 60:02d}"
    return f"{days}d {clock}" if shown else ("24:00" if is_end else clock)


def _known(values: Any) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]


def _fields(periods: Periods, length: float) -> Iterator[Field]:
    yield Field(("from",), _known(periods.starts), SECOND, ("from",))
    yield Field(("to",), _known(periods.ends), SECOND, ("to",))
    yield words("from", (moment(at, length) for at in periods.starts))
    yield words("to", (moment(at, length) for at in periods.ends))
    for name, title in (("arrival_rate", "arrivals"), ("throughput", "throughput")):
        yield field(name, _known(getattr(periods, name)), RATE, title, common)
    for name, values in periods.clients.items():
        yield field(name, _known(values), *_CLIENTS[name])
    yield field("servers", _known(periods.servers))
    if periods.replicas is not None:
        yield field("replicas", _known(periods.replicas), title="replicas", writer=scaled)
    yield field("utilisation", _known(periods.utilisation), title="utilisation", writer=scaled)
    yield field("queue_length", _known(periods.queue_length), title="jobs", writer=scaled)
    yield field("response_time", _known(periods.response_time), SECOND, "response", common)
    for percent, values in periods.percentiles.items():
        name = percent_name(percent)
        yield field(name, _known(values), SECOND, f"p{digits(percent)}", common)
    lossy = bool(np.any(periods.loss_probability > 0))
    losses = _known(np.maximum(periods.loss_probability, 0.0))
    yield field("loss_probability", losses, title="lost" if lossy else None)
    over = periods.over_target
    if over is not None:
        yield field("over_target", _known(over), SHARE, "over target", common)


def _records(periods: Periods) -> Records:
    length = float(periods.ends[-1] - periods.starts[0])
    return Records(tuple(_fields(periods, length)))


def _scale(timeline: Timeline) -> Scale:
    return _records(timeline.periods).scale(timeline.model.stated)


def _table(timeline: Timeline, scale: Scale) -> Table:
    return _records(timeline.periods).table(
        timeline.model.title, scale, _sentences(timeline, scale)
    )


def _sentences(timeline: Timeline, scale: Scale) -> Iterator[str]:
    day, worst = timeline.day, timeline.worst
    length = float(day.ends[0] - day.starts[0])
    yield f"method: {timeline.method}"
    if timeline.approximation:
        yield f"approximate: {timeline.approximation}"
    response = scale.text(float(day.response_time[0]), SECOND)
    highest = [
        f"p{digits(p)} {scale.text(float(v[0]), SECOND)}" for p, v in day.percentiles.items()
    ]
    rate = scale.text(float(day.arrival_rate[0]), RATE)
    yield f"overall: {rate}, response time {', '.join([response, *highest])}"
    if day.over_target is not None and timeline.target is not None:
        share, target = 100 * float(day.over_target[0]), scale.text(timeline.target, SECOND)
        yield f"{significant(share, 3)}% of all requests take longer than {target}"
        if timeline.time_over:
            yield f"{lasting(timeline.time_over)} with a mean response time over {target}"
    begin, end = (moment(float(at[0]), length) for at in (worst.starts, worst.ends))
    unit_word = "" if is_clock(float(worst.starts[0]), length) else " s"
    mean = scale.text(float(worst.response_time[0]), SECOND)
    load = scale.text(float(worst.arrival_rate[0]), RATE)
    yield f"worst: {begin} to {end}{unit_word}: response time {mean} at {load}"
    if timeline.drained is not None:
        yield _drained(timeline)
    yield from _scaling_sentences(timeline)
    if timeline.cost is not None:
        yield f"cost: {significant(timeline.cost, 4)}"
    yield from timeline.notes


def lasting(time: float) -> str:
    """A duration as people read it.

    Examples
    --------
    >>> lasting(90.0), lasting(45.0), lasting(3600.0)
    ('1.5 minutes', '45 s', '60 minutes')
    """
    return f"{significant(time, 3)} s" if time < 60 else f"{significant(time / 60, 3)} minutes"


def _scaling_sentences(timeline: Timeline) -> Iterator[str]:
    """Sentences on what an autoscaler did, and what it needs."""
    scaling = timeline.scaling
    if scaling is None:
        return
    law, changes = scaling.law, significant(scaling.changes, 2)
    times = "change" if changes == "1" else "changes"
    yield (
        f"autoscaler: {digits(scaling.low.min())} to {digits(scaling.high.max())} replicas in 90 "
        f"of 100 days, {changes} {times}; {law.metric} above its target "
        f"for {lasting(scaling.over)}"
    )
    if scaling.growth > 1:
        bears = (
            f"a target of at most {significant(100 * scaling.room, 2)}% leaves room for it"
            if law.metric == "utilisation"
            else "leave that much room"
        )
        yield (
            f"load grows by a factor of {significant(scaling.growth, 3)} within "
            f"{digits(law.reaction)} s, before new replicas are ready: {bears}"
        )
    if scaling.needless >= 1:
        times = significant(scaling.needless, 2)
        yield (
            f"oscillates: on average it removes replicas {times} times, and adds them back without "
            "more load"
        )


def _drained(timeline: Timeline) -> str:
    law = timeline.drained
    assert law is not None and timeline.start is not None  # noqa: S101, PT018 - the caller asked
    low, high = (law.percentile(p) for p in INTERVAL)
    behind = f"{timeline.start:,} requests behind, at this rate and capacity"
    middle = law.percentile(50)
    if not np.isfinite(middle):
        return (
            f"{behind}: still waiting at the end, with probability {significant(law.left[-1], 3)}"
        )
    last = f"{significant(high, 3)}" if np.isfinite(high) else "more"
    return (
        f"{behind}: empty after {significant(middle, 3)} s ({significant(low, 3)} to {last} in 95 "
        "of 100 cases), after which nobody waits"
    )


def _document(timeline: Timeline, rows: list[dict[str, Any]]) -> dict[str, Any]:
    (day,), (worst,) = _records(timeline.day).rows(), _records(timeline.worst).rows()
    law = timeline.drained
    drained = law and {
        "from": timeline.start,
        "mean": law.mean if law.left[-1] < 1e-3 else None,
        "median": _finite(law.percentile(50)),
        "ci95": [_finite(law.percentile(p)) for p in INTERVAL],
    }
    return {
        "model": timeline.model.name,
        "preset": timeline.model.preset,
        "method": timeline.method,
        "approximation": timeline.approximation or None,
        "target": timeline.target,
        "periods": rows,
        "day": {**day, "cost": timeline.cost, "time_over_target": timeline.time_over},
        "worst": worst,
        "drained": drained,
        "autoscaler": timeline.scaling and _scaling(timeline.scaling),
        "notes": list(timeline.notes),
    }


def _scaling(scaling: Scaling) -> dict[str, Any]:
    return {
        "at": scaling.times.tolist(),
        "replicas": scaling.replicas.tolist(),
        "replicas_p5": scaling.low.tolist(),
        "replicas_p95": scaling.high.tolist(),
        "changes": scaling.changes,
        "time_above_target": scaling.over,
        "growth": scaling.growth,
        "room": scaling.room if scaling.law.metric == "utilisation" else None,
        "needless_changes": scaling.needless,
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
