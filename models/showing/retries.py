"""Retries described: the stationary states at a load, and the loads at which they change."""

from collections.abc import Iterator
from math import inf, isfinite, isnan
from typing import Any

from headway.models.analysis.retries import Retries
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, unit
from headway.models.tables.description import Description, Field, Records, common, field, only_csv
from headway.models.tables.table import Column, Table
from headway.queueing.retries.attempts import Stability
from headway.queueing.retries.lives import LASTING

_SECONDS = unit("s")


def describe(retries: Retries) -> Description:
    """One row per state, with the range of loads with two states, and when the queue tips over."""
    records = Records(tuple(_states(retries)))
    return Description(
        records=lambda: records,
        scale=lambda: _scale(retries),
        tables=lambda scale: [
            _summary(retries, scale),
            records.table("states", scale, retries.doubts),
        ],
        document=lambda rows: {**_document(retries), "states": rows},
    )


def _scale(retries: Retries) -> Scale:
    rates = [(one.rate, retries.unit) for one in retries.tipping.states]
    return Scale.of(rates, [retries.unit])


def _states(retries: Retries) -> Iterator[Field]:
    found = retries.tipping
    yield field("state", [_name(retries, k) for k in range(len(found.states))], title="state")
    yield field("stability", [one.stability.value for one in found.states], title="stability")
    rates = [one.rate for one in found.states]
    yield field("attempt_rate", rates, retries.unit, "attempts", common)
    yield field("goodput", found.goodput, retries.unit, "goodput", common)
    yield field("late", [one.late for one in found.states], ONE, "attempts that fail")
    yield only_csv("approximation", [retries.approximation] * len(found.states))


def _name(retries: Retries, place: int) -> str:
    states = retries.tipping.states
    if states[place].stability is not Stability.STABLE:
        return "threshold"
    if states[place].grows:
        return "queue grows"
    return "good" if place == 0 and states[0].late < _BAD else "bad"


_BAD = 0.5  # share of failed attempts from which a state is called bad, in words only


def _facts(retries: Retries) -> dict[str, tuple[float | None, Any]]:
    """What is said about the load, each number with its unit; None if there is no such number."""
    found, seconds = retries.tipping, _SECONDS
    between, bad, good = found.folds, found.recovers, found.falls
    alone = (inf, inf) if good or not found.alone or isnan(found.pulse) else found.alone
    ends = None if bad is None else bad.mean
    return {
        "load": (found.load, retries.unit),
        "bad_state_from": (between.vanishes if between else None, retries.unit),
        "bad_lasting_from": (found.stays, retries.unit),
        "good_state_up_to": (between.tips if between else None, retries.unit),
        "lasting_up_to": (found.lasts, retries.unit),
        "pulse": (_known(found.pulse), ONE),
        "tips_after": (good.mean if good else None, seconds),
        "alone_from": (_known(alone[0]), seconds),
        "alone_to": (_known(alone[1]), seconds),
        "bad_ends_after": (ends, seconds),
        "bad_lasts_at_least": (bad.least if bad and ends is None else None, seconds),
        "growth_per_s": (found.grows or None, retries.unit),
        "drain_per_s": (found.drains or None, seconds),
        "drain_sure_after": (found.sure or None, seconds),
    }


def _known(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


_WORDS = {
    "load": "load",
    "bad_state_from": "a bad state is possible above",
    "bad_lasting_from": f"the bad state lasts {LASTING:,} requests above",
    "good_state_up_to": "a good state is possible up to",
    "lasting_up_to": f"the good state lasts {LASTING:,} requests up to",
    "pulse": "requests in a burst that tips it over",
    "tips_after": "mean time until it tips by chance",
    "alone_from": "mean time until it tips by chance, at least",
    "alone_to": "mean time until it tips by chance, at most",
    "bad_ends_after": "mean time until the bad state ends by chance",
    "bad_lasts_at_least": "mean duration of the bad state, at least",
    "growth_per_s": "queue growth in the bad state",
    "drain_per_s": "recovery time per second in the bad state",
    "drain_sure_after": "within 10% in 95 of 100 cases, if it lasts over",
}


def _summary(retries: Retries, scale: Scale) -> Table:
    facts = _facts(retries).items()
    texts = {_WORDS[name]: scale.text(n, own) for name, (n, own) in facts if n is not None}
    notes = tuple(_notes(retries))
    columns = (Column("", tuple(texts)), Column("value", tuple(texts.values())))
    return Table(retries.model, columns, notes)


def _notes(retries: Retries) -> Iterator[str]:
    found = retries.tipping
    if found.folds is None and found.states[-1].grows:
        yield "there is only one state at each load, and at this load the queue grows"
    elif found.folds is None:
        yield "there is only one state at each load: retries cannot tip it over"
    elif isnan(found.pulse):
        yield "there is no good state at this load"
    elif found.pulse == inf:
        yield "no burst was found that would tip it over at this load"


def _document(retries: Retries) -> dict[str, Any]:
    facts = {name: each[0] for name, each in _facts(retries).items()}
    return {"model": retries.model, **facts, "approximation": retries.approximation}
