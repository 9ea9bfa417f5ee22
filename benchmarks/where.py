"""Where the time of a call goes: to kernels in C, to NumPy and SciPy, to headway's own Python.

Shares come from a profile of calls, which counts Python functions for more than they take, and for
commands from the imports of a cold start, by package.
"""

import cProfile
import pstats
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tasks import Call, processor_time

ROOT = Path(__file__).resolve().parent.parent
_LONG = 0.3  # s: calls are repeated until they take so long together
_IMPORT = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
SHOWN = 3
"""So many places are named, those of the most time first."""


def places(call: Call) -> str:
    """The places that take most of a call, with their shares."""
    first = call()
    cold = isinstance(first, subprocess.CompletedProcess)
    spent = Counter[str]()
    for place, seconds in _imported(first.args) if cold else _called(call):
        spent[place] += seconds
    total = sum(spent.values())
    return ", ".join(f"{p} {100 * t / total:.0f}%" for p, t in spent.most_common(SHOWN))


def _called(call: Call) -> Iterator[tuple[str, float]]:
    """Time of each function alone, by place, over some calls."""
    profile, start = cProfile.Profile(), processor_time()
    profile.enable()
    while processor_time() - start < _LONG:
        call()
    profile.disable()
    stats: Any = pstats.Stats(profile)
    for (file, _, function), (_, _, alone, _, _) in stats.stats.items():
        yield _place(file, function), alone


def _place(file: str, function: str) -> str:
    """Whose a function is, by its file, and that of a built-in one by its name."""
    if "compiled._kernels" in function:
        return "kernels"
    if any(name in file + function for name in ("numpy", "scipy")):
        return "NumPy"
    return "headway" if ROOT in Path(file).parents and "site-packages" not in file else "Python"


def _imported(command: list[str]) -> Iterator[tuple[str, float]]:
    """Time to import each module alone, by package."""
    timed = [command[0], "-X", "importtime", *command[1:]]
    told = subprocess.run(timed, check=True, capture_output=True, text=True).stderr
    for spent, module in _IMPORT.findall(told):
        package = module.partition(".")[0]
        known = package in {"headway", "numpy", "sympy", "mpmath", "scipy", "click"}
        yield f"import {package}" if known else "import Python's own", float(spent)
