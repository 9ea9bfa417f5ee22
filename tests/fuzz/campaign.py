"""Spoilt texts by the thousand, each with a limit on time and memory; what went wrong is kept."""

import random
import resource
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from tests.fuzz.mutations import encoded, mutated
from tests.fuzz.packing import packed
from tests.fuzz.seeds import texts
from tests.fuzz.targets import TARGETS, pick
from tests.support.limits import limited_time

SECONDS = 10.0
"""Longest that one input may take: of processor time, and thirty times that on the clock."""

MEMORY = 6 * 2**30
"""Most bytes of address space."""

ENDINGS = {"model": ".toml", "import": ".jsimg"}
"""Endings of names that decide how a file is read; the others show it in their content."""

_INSIDE = ("headway", "loggp", "queueing", "models", "cli")


class Hang(BaseException):
    """An input took longer than it may."""


@dataclass(frozen=True)
class Finding:
    """An input that ended in neither an answer nor a refusal."""

    seed: int
    index: int
    kind: str
    content: bytes
    what: str
    place: str
    trace: str

    def __str__(self):
        again = f"make fuzz-inputs SEED={self.seed} ONLY={self.index}"
        return f"{self.what} at {self.place} from a spoilt {self.kind}; again with {again}"


def made(seed, index):
    """The kind of an input, its bytes, and the chance that its use goes on with."""
    chance = random.Random(f"{seed}:{index}")
    kind = pick(chance)
    others = texts()[kind]
    text = mutated(chance, chance.choice(others), others)
    content = encoded(chance, text)
    return kind, packed(chance, content) if kind == "archive" else content, chance


def tried(seed, index, folder):
    """Try one input; the finding, or whether it was refused."""
    kind, content, chance = made(seed, index)
    path = folder / f"input{ENDINGS.get(kind, '.csv')}"
    path.write_bytes(content)
    try:
        with limited_time(SECONDS, Hang), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", RuntimeWarning)
            TARGETS[kind][0](chance, path)
    except HeadwayError:
        return None, True
    except (Exception, Hang) as error:
        what = f"{type(error).__name__}: {error}"[:200]
        trace = "".join(traceback.format_exception(error, limit=-25))
        return Finding(seed, index, kind, content, what, _place(error), trace), False
    return None, False


def _place(error):
    """The innermost line of headway's own."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if any(f"/{name}/" in f.filename for name in _INSIDE)]
    last = (own or frames)[-1]
    return f"{'/'.join(Path(last.filename).parts[-3:])}:{last.lineno}"


@contextmanager
def limited_memory():
    """No more address space than an ordinary machine has to give."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def campaign(seed, indices, progress=lambda _finding: None, until=float("inf"), kinds=None):
    """Try inputs one after another.

    Parameters
    ----------
    seed, indices
        Which inputs: the same seed and index make the same input.
    seen
        Told after each input: what was found, or None.
    until
        Time after which no further input is begun, as `time.monotonic` has it.
    kinds
        Kinds of input that are tried; the others are passed over.

    Returns
    -------
    The findings, and how many inputs of each kind were refused, answered or found.
    """
    findings, counts = [], Counter()
    with tempfile.TemporaryDirectory() as name, limited_memory():
        for index in indices:
            if time.monotonic() > until:
                break
            if kinds and pick(random.Random(f"{seed}:{index}")) not in kinds:
                continue
            finding, refused = tried(seed, index, Path(name))
            findings += [finding] if finding else []
            counts["found" if finding else "refused" if refused else "answered"] += 1
            progress(finding)
    return findings, counts
