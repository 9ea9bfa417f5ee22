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
from headway.models.sweeping.reductions.reduction import Reduction, ReductionKind

REDUCTIONS: Mapping[str, ReductionKind] = {
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
"""Kinds by name."""

_WRITTEN = re.compile(r"\s*(\w*)\s*(?:\((.*)\)|=(.*))?\s*", re.DOTALL)


def reductions_of(
    texts: Sequence[str | Reduction], outputs: Sequence[str], units: Mapping[str, Unit]
) -> tuple[Reduction, ...]:
    """Read reductions; duplicates count once.

    Parameters
    ----------
    texts
        ``KIND(OUTPUT, ...)``; or ``KIND=...`` and ``KIND``, for every requested output; or
        reductions.
    outputs
        Requested outputs, to which a kind without an output applies.
    units
        Units of all names that reductions may read.

    Raises
    ------
    InvalidParameter, UnitError
        For no reduction, malformed text, an unknown output, or a limit in a wrong unit.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> units = {"time": unit("s"), "load": unit("1")}
    >>> texts = ["quantiles=p50,p99", "exceeds(time, 300ms)"]
    >>> answer = reductions_of(texts, ["time", "load"], units)
    >>> [each.text for each in answer]
    ['quantiles(time, p50, p99)', 'quantiles(load, p50, p99)', 'exceeds(time, 300 ms)']
    """
    if not texts:
        msg = "no reduction is given; give one such as moments(response_time)"
        raise InvalidParameter(msg)
    reductions = [each for text in texts for each in _of_text(text, outputs, units)]
    for each in reductions:
        for name in each.needs:
            _check_output(each.text, name, units)
    return tuple(dict.fromkeys(reductions))


def _of_text(
    text: str | Reduction, outputs: Sequence[str], units: Mapping[str, Unit]
) -> list[Reduction]:
    if isinstance(text, Reduction):
        return [text]
    match = _WRITTEN.fullmatch(text)
    if match is None or not match[1]:
        msg = f"reduction {quoted(text)} has no name; write one such as moments(response_time)"
        raise InvalidParameter(msg)
    kind = _kind(match[1])
    if match[2] is None:
        return [kind.read(name, _parts(match[3] or ""), units[name]) for name in outputs]
    name, *arguments = _parts(match[2]) or [""]
    _check_output(text, name, units)
    return [kind.read(name, tuple(arguments), units[name])]


def _kind(name: str) -> ReductionKind:
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
