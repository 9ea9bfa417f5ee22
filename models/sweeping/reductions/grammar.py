"""Reductions read from text: ``moments(response_time)``, ``quantiles=p50,p99``."""

import re
from collections.abc import Mapping, Sequence

from headway.errors import InvalidParameter, nearest, quoted
from headway.models.language.units import Unit
from headway.models.sweeping.reductions.beyond import BELOW, EXCEEDS
from headway.models.sweeping.reductions.gathered import POINTS
from headway.models.sweeping.reductions.histogram import HISTOGRAM
from headway.models.sweeping.reductions.moments import MOMENTS
from headway.models.sweeping.reductions.quantiles import QUANTILES
from headway.models.sweeping.reductions.ranked import BOTTOM, LEAST, MOST, TOP
from headway.models.sweeping.reductions.reduction import Kind, Reduction

REDUCTIONS: Mapping[str, Kind] = {
    "moments": MOMENTS,
    "quantiles": QUANTILES,
    "exceeds": EXCEEDS,
    "below": BELOW,
    "least": LEAST,
    "most": MOST,
    "top": TOP,
    "bottom": BOTTOM,
    "histogram": HISTOGRAM,
    "points": POINTS,
}
"""Kinds by the name that one writes."""

_WRITTEN = re.compile(r"\s*(\w*)\s*(?:\((.*)\)|=(.*))?\s*", re.DOTALL)


def reductions_of(
    texts: Sequence[str | Reduction], outputs: Sequence[str], units: Mapping[str, Unit]
) -> tuple[Reduction, ...]:
    """Read reductions; one that is named twice counts once.

    Parameters
    ----------
    texts
        ``KIND(OUTPUT, ...)``; or ``KIND=...`` and ``KIND``, for every output asked; or reductions
        that are there already.
    outputs
        Names asked for, which a kind without an output is of.
    units
        Unit of every name that a reduction may read.

    Raises
    ------
    InvalidParameter, UnitError
        For no reduction, text that is none, an output that is none, or a limit in another unit.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> units = {"time": unit("s"), "load": unit("1")}
    >>> texts = ["quantiles=p50,p99", "exceeds(time, 300ms)"]
    >>> found = reductions_of(texts, ["time", "load"], units)
    >>> [each.text for each in found]
    ['quantiles(time, p50, p99)', 'quantiles(load, p50, p99)', 'exceeds(time, 300 ms)']
    """
    if not texts:
        msg = "no reduction is given; write one such as moments(response_time)"
        raise InvalidParameter(msg)
    found = [each for text in texts for each in _of_text(text, outputs, units)]
    for each in found:
        for name in each.needs:
            _check_output(each.text, name, units)
    return tuple(dict.fromkeys(found))


def _of_text(
    text: str | Reduction, outputs: Sequence[str], units: Mapping[str, Unit]
) -> list[Reduction]:
    if isinstance(text, Reduction):
        return [text]
    found = _WRITTEN.fullmatch(text)
    if found is None or not found[1]:
        msg = f"reduction {quoted(text)} has no name; write one such as moments(response_time)"
        raise InvalidParameter(msg)
    kind = _kind(found[1])
    if found[2] is None:
        return [kind.read(name, _parts(found[3] or ""), units[name]) for name in outputs]
    name, *arguments = _parts(found[2]) or [""]
    _check_output(text, name, units)
    return [kind.read(name, tuple(arguments), units[name])]


def _kind(name: str) -> Kind:
    if name not in REDUCTIONS:
        msg = f"there is no reduction {quoted(name)}{nearest(name, REDUCTIONS)}"
        raise InvalidParameter(msg)
    return REDUCTIONS[name]


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text.strip() else ()


def _check_output(text: str, name: str, units: Mapping[str, Unit]) -> None:
    if name not in units:
        what = f"no output {quoted(name)}" if name else "no output named"
        msg = f"reduction {quoted(text)}: there is {what}{nearest(name, units)}"
        raise InvalidParameter(msg)
