"""Measured points with one number spoilt at a time: each must be found or refused.

``python -m tests.campaigns.spoilt_points [FOLDER...]`` makes each number of each file negative, not
a number, and a million times larger, reads the file and audits it, and counts the outcomes by tool
and, if nothing was noticed, by the rule that explains it. Without folders it takes the samples of
tools and the tables that ship with headway. Cases that no rule explains are listed, and there must
be none.

A number a million times larger is accepted if no other number of the point can contradict it, for
instance a bandwidth.

No constant or label names it.
"""

import re
import sys
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, fields
from math import isclose
from pathlib import Path

from headway.errors import HeadwayError
from headway.models.analysis.audit import findings_in
from headway.models.measured.points import Point
from headway.models.reading.loadtest import points_of
from headway.models.reading.recognise import decoded
from tests.house import ROOT

FOLDERS = (ROOT / "tests" / "data" / "tools", ROOT / "models" / "data")
MOST = 1000
"""Most numbers of a file that are spoilt: all, or evenly spread ones in a longer file."""

_NUMBER = re.compile(
    r"(?<![\w.+])(?<!\d[:/-])(?<![-+])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\d)(?![\w.]*[:/-]\d|\.\d)(?!(?:;\d+)?m|xx)"
)
"""A number that is not part of a word, a date, a time of day, a version or a colour."""

_CALM = 1.5  # ratio: a finding whose number changed by less is the same finding

WAYS = {
    "negative": lambda number: f"-{number}",
    "no number": lambda _: "NaN",
    "a million times": lambda number: _larger(number),
}
"""The ways in which a number is spoilt."""


def _larger(number):
    """A million times a number, with as many decimals as it has."""
    decimals = len(number.partition(".")[2]) if "e" not in number.lower() else 6
    return f"{float(number) * 1e6:.{decimals}f}"


@dataclass(frozen=True)
class Spoilt:
    """One number of a file changed, and the outcome."""

    file: str
    tool: str
    line: int
    way: str
    number: str
    outcome: str
    changed: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.file}:{self.line}: {self.number} made {self.way}: {', '.join(self.changed)}"


def spoilt_file(path, name, most=MOST):
    """The outcomes for the numbers of a file, changed one at a time.

    Parameters
    ----------
    path, name
        A file, and its name in the list.
    most
        Numbers that are spoilt.

    Yields
    ------
    A `Spoilt` for each number and way; nothing for a file without points.
    """
    text = _text(path)
    try:
        points = points_of(text, name)
    except HeadwayError:
        return
    known, said = _numbers(points), _said(points)
    matches = list(_NUMBER.finditer(text))
    step = max(1, -(-len(matches) // most))
    for match in matches[::step]:
        line = text.count("\n", 0, match.start()) + 1
        for way, make in WAYS.items():
            variant = text[: match.start()] + make(match[0]) + text[match.end() :]
            outcome, changed = _outcome(variant, name, known, said, (way, float(match[0])))
            yield Spoilt(name, points[0].tool, line, way, match[0], outcome, changed)


def _text(path):
    content = path.read_bytes()
    try:
        return decoded(content, path.name)
    except HeadwayError:
        return ""


def _outcome(text, name, known, said, spoiling):
    try:
        points = points_of(text, name)
    except HeadwayError:
        return "refused", ()
    change = _Change(*spoiling, known, _numbers(points))
    names = tuple(sorted({name for _, name in change.keys}))
    findings = _findings(points)
    if any(_is_news(finding, said) for finding in findings):
        return "found", names
    if names == ("offered_rate",) and any(finding.kind in _BEHIND for finding in findings):
        return "said of the whole file already", names
    return next((rule for rule, holds in RULES.items() if holds(change)), ""), names


def _findings(points):
    return findings_in(sorted(points, key=lambda point: point.load))


def _said(points):
    """The findings of a whole file, by kind and points."""
    return {(f.kind, f.severity, f.points): f for f in _findings(points)}


def _is_news(finding, said):
    """Whether a finding is not one of the original file, or has other points or another number."""
    before = said.get((finding.kind, finding.severity, finding.points))
    if before is None:
        return True
    low, high = sorted((abs(before.value or 0.0), abs(finding.value or 0.0)))
    return high > _CALM * low or (finding.kind in _OF_COUNTS and before.text != finding.text)


_BEHIND = ("fell_behind", "hidden_closed_loop")
_OF_COUNTS = ("littles_law", "errors", "fell_behind", "mean_of_rate", "ran_out_of_clients")
_OTHERS = ("notes", "file", "course")


def _numbers(points):
    """All numbers of points apart from notes: by the index of the point and the field."""
    told = {}
    for place, point in enumerate(points):
        for each in fields(Point):
            value = getattr(point, each.name)
            if each.name in ("percentiles", "utilisation", "more"):
                told |= {(place, f"{each.name} {key}"): number for key, number in value.items()}
            elif each.name not in _OTHERS:
                told[place, each.name] = value
    return told


@dataclass(frozen=True)
class _Change:
    """A changed number of a file, and the differences of the points."""

    way: str
    number: float
    known: dict
    numbers: dict

    @property
    def keys(self):
        """The point and field of whatever differs."""
        both = self.known.keys() | self.numbers.keys()
        return {key for key in both if self.known.get(key) != self.numbers.get(key)}

    @property
    def names(self):
        """The fields that differ, but names."""
        return {name for _, name in self.keys} - {"name"}

    @property
    def tools(self):
        """The tools of the points."""
        return {value for (_, name), value in self.known.items() if name == "tool"}

    @property
    def gone(self):
        """Whether the only difference is that numbers are no longer read, or newly read."""
        return all(key not in self.known or key not in self.numbers for key in self.keys)

    @property
    def larger(self):
        """Whether the number is larger, and still a number."""
        return self.way == "a million times"

    @property
    def is_title(self):
        """Whether the number is the percentage of a percentile that is no longer read."""
        percents = {float(p) for name in self.names for p in _percents(name)}
        same = any(isclose(p, n) for p in percents for n in (self.number, 100 * self.number))
        return same and (self.gone or len(self.names) == 1)

    @property
    def is_made(self):
        """Whether rate, time and number of requests changed together; tools compute one."""
        return all(_is_computed(place, name, self.keys) for place, name in self.keys)

    @property
    def is_alone(self):
        """Whether no other number of its point can contradict it."""
        return all(
            _is_alone(place, name, self.known) or _is_computed(place, name, self.keys)
            for place, name in self.keys
            if name != "name"
        )


def _percents(name):
    plain = name.replace("_9_s", ".9").replace("_99_s", ".99")
    return re.findall(r"(?:percentiles |_p)([\d.]+)", plain)


_FITTED = {
    f"more {name}_s"
    for name in ("gap", "gap_per_byte", "latency", "send_overhead", "receive_overhead")
}
_NUMBERED = {"pidstat", "mpstat", "OpenTelemetry", "Jaeger"}
_HISTOGRAMS = {"bcc histogram", "bpftrace"}
_COMPUTED = {"throughput", "duration", "samples", "more drain_s", "offered_rate", "loop"}

RULES = {
    "not read": lambda c: not c.keys,
    "a name": lambda c: (
        c.names <= {"loop"}
        or c.names & {f"utilisation cpu_{n}" for n in (f"{c.number:g}", f"-{c.number:g}", "NaN")}
    ),
    "a name or a code: which process, CPU or kind of span": lambda c: (
        c.number.is_integer() and c.tools & _NUMBERED
    ),
    "a note says that more jobs ran than the options tell": lambda c: (
        "fio" in c.tools and c.larger and c.names == {"population"}
    ),
    "iterations of k6, of which nothing else is told": lambda c: (
        "k6" in c.tools and c.larger and c.names == {"dropped", "offered_rate"}
    ),
    "a title: which percentile a number is": lambda c: c.is_title,
    "a fitted parameter, left out with a note": lambda c: (
        c.way == "negative" and "Netgauge" in c.tools and c.names <= _FITTED
    ),
    "how Prometheus writes that nothing was observed": lambda c: (
        c.way == "no number"
        and "Prometheus" in c.tools
        and all(name.startswith("percentiles") for name in c.names)
    ),
    "the rate is made of it, and follows": lambda c: c.larger and c.is_made,
    "a histogram, of which all is made": lambda c: (
        c.larger and c.tools & _HISTOGRAMS and c.names & {"samples", "more response_time_max_s"}
    ),
    "nothing else in the file tells it": lambda c: c.larger and c.is_alone,
}
"""Why it is right that nothing is noticed, in the order in which the rules are tried."""


def _is_computed(place, name, changed):
    """Whether a rate, a time and a number changed together, one of which a tool computes."""
    own = {other for where, other in changed if where == place} & _COMPUTED
    return name in _COMPUTED and len(own) > 1


def _is_alone(place, name, known):
    """Whether no other number of its point can contradict it."""
    point = {field: value for (where, field), value in known.items() if where == place}
    has = {field for field, value in point.items() if value is not None}
    times = {f for f in has if f.startswith(("percentiles", "more response_time_m"))}
    asked = "offered_rate" in has or point.get("loop") == "open"
    partners = {
        "throughput": {"samples", "duration"} <= has or {"population", "response_time"} <= has
        or (bool(point.get("more queue")) and "response_time" in has) or "offered_rate" in has,
        "duration": {"samples", "throughput"} <= has,
        "samples": {"duration", "throughput"} <= has,
        "population": {"throughput", "response_time"} <= has
        and not (asked or point.get("mean_of_rate", "ran_out_of_clients")),
        "response_time": bool(times) or {"throughput", "population"} <= has,
        "offered_rate": "throughput" in has,
        "errors": "samples" in has,
        "lateness": "response_time" in has,
        "think_time": {"throughput", "response_time", "population"} <= has,
    }  # fmt: skip
    if name.startswith(("percentiles", "more response_time_m")):
        told = {"samples", "response_time"} <= has or {"duration", "loop"} <= has
        return not (
            told
            if name == "more response_time_max_s"
            else told or times - {name} or "response_time" in has
        )
    return not partners.get(name, name in ("dropped", "more queue", "more drain_s"))


def files_in(folder):
    """Files below a folder, with their names in it."""
    return [
        (path, str(path.relative_to(folder.parent)))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "LICENSE" not in path.name
    ]


def main(arguments=None):
    """Spoil the numbers of folders, and print the outcomes."""
    options = ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    options.add_argument("--most", type=int, default=MOST, help="numbers of a file")
    args = options.parse_args(arguments)
    counts, silent = Counter(), []
    for folder in args.folders:
        for path, name in files_in(folder):
            for each in spoilt_file(path, name, args.most):
                counts[each.tool, each.way, each.outcome or "silent"] += 1
                silent += [] if each.outcome else [each]
    for (tool, way, outcome), count in sorted(counts.items()):
        print(f"{tool:28} {way:16} {outcome:34} {count:6}")
    for outcome in sorted({key[2] for key in counts}):
        print(f"{outcome:34} {sum(n for key, n in counts.items() if key[2] == outcome):6}")
    print(*silent, sep="\n")
    return int(bool(silent))


if __name__ == "__main__":
    sys.exit(main())
