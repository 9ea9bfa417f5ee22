"""What a result page discloses about its system: numbers with units, and words."""

import math
import re
from collections.abc import Mapping

from headway.errors import UnitError
from headway.kinds import number_of
from headway.models.language.units import ONE, Unit, quantity, unit
from headway.records import dataclass


@dataclass(frozen=True)
class Fact:
    """A statement of a result page about the measured system.

    Parameters
    ----------
    name
        Its name, such as ``memory``.
    printed
        The text on the page.
    value
        Its SI number; None for words.
    unit
        The unit in which it was printed.
    """

    name: str
    printed: str
    value: float | None = None
    unit: Unit = ONE


_BYTES = unit("B")
_KEYS: Mapping[str, tuple[str, Unit | None]] = {
    "vendor": (r"vendor|tested by|company", None),
    "model": (r"model (?:name|number)|product name", None),
    "processor": (r"cpu|processor(?: type)?", None),
    "processors": (r"(?:#|number|no\.?) of (?:processors|cpus|cores)", ONE),
    "memory": (r"(?:main |total )?memory(?: size)?", _BYTES),
    "nvram": (r"nvram(?: size)?|non-?volatile memory|other cache", _BYTES),
    "disks": (r"(?:#|number|no\.?) of (?:disks|disk drives|drives)", ONE),
    "network": (r"network type|type of network", None),
    "load_generators": (r"(?:#|number) of (?:load generators|lgs?|clients)", ONE),
    "processes": (
        r"(?:number of )?processes per (?:load generator|lg|client)|# of processes per lg",
        ONE,
    ),
    "nfs_processes": (r"(?:#|number) (?:of )?nfs (?:processes|daemons)", ONE),
    "file_set": (r"file ?set size|total file ?set size", _BYTES),
    "tested": (r"date tested|tested", None),
    "licence": (r"(?:sfs )?licen[sc]e (?:number|#|no\.?)", None),
}
_SEPARATED = r"\s*(?:[:|=]\s*|\s{2,}|\s+(?=[0-9(]))\s*(\S.*)$"
_PATTERNS = {
    name: re.compile(rf"^\W*(?:{key})" + _SEPARATED, re.IGNORECASE)
    for name, (key, _) in _KEYS.items()
}
_LOOSE = {
    name: re.compile(rf"^\W*(?:{key})\s+(\S.*)$", re.IGNORECASE) for name, (key, _) in _KEYS.items()
}
_AMOUNT = re.compile(r"([0-9.,]+)\s*([kKMGT]i?B)\b")
_COUNT = re.compile(r"^[^\w]*([0-9,]+)\b")


def disclosed(lines: list[str]) -> dict[str, Fact]:
    """Read what a page says about the system; the first line with a name counts.

    Parameters
    ----------
    lines
        The page as text: ``Key: value``, ``Key | value`` or ``Key value``.

    Examples
    --------
    >>> disclosed(["Memory Size | 3 GB", "Number of Disks 64"])["memory"].value
    3000000000.0
    """
    facts: dict[str, Fact] = {}
    for line in filter(str.strip, lines):
        for name in _KEYS:
            match = _PATTERNS[name].match(line) or _LOOSE[name].match(line)
            if match and name not in facts:
                facts[name] = fact(name, match[1].strip(" |"))
                break
    return {name: facts[name] for name in _KEYS if name in facts}


def fact(name: str, printed: str) -> Fact:
    """Read a printed value as a number if it is one, else keep the words."""
    wanted = _KEYS[name][1]
    if wanted is None:
        return Fact(name, printed)
    match = (_AMOUNT if wanted is _BYTES else _COUNT).search(printed)
    if match is None:
        return Fact(name, printed)
    number = match[1].replace(",", "")
    if wanted is _BYTES:
        try:
            return Fact(name, printed, quantity(f"{number} {match[2]}", _BYTES), unit(match[2]))
        except UnitError:
            return Fact(name, printed)
    count = number_of(number)
    return Fact(name, printed, count if count is not None and math.isfinite(count) else None)
