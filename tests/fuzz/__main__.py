"""``make fuzz-inputs``: a campaign, with its seed; exit code 1 if anything was found."""

import argparse
import contextlib
import secrets
import sys
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.fuzz.campaign import campaign
from tests.fuzz.targets import TARGETS

KEPT = Path("build/fuzz")
"""Where inputs that were found are kept."""


def _arguments():
    reader = argparse.ArgumentParser(prog="make fuzz-inputs", description=__doc__)
    reader.add_argument("--count", type=int, default=100_000, help="inputs to try")
    reader.add_argument("--seed", type=int, help="that made them; a random one is printed")
    reader.add_argument("--only", type=int, help="try this one input only")
    reader.add_argument("--kind", choices=TARGETS, help="try inputs of this kind only")
    reader.add_argument("--seconds", type=float, default=float("inf"), help="begin none after")
    return reader.parse_args()


class Log:
    """Tells each fault in full once, as soon as it is met; counts the others like it."""

    def __init__(self):
        self.met = Counter()

    def __call__(self, finding):
        """Take note of what came of an input."""
        if finding is None:
            return
        fault = finding.what.partition(":")[0], finding.place
        self.met[fault] += 1
        if self.met[fault] == 1:
            name = _keep(finding)
            shown = f"{finding}\n{finding.trace}\nkept in {name}.input\n"
            print(shown.encode("ascii", "backslashreplace").decode(), flush=True)


@contextlib.contextmanager
def _bar(count, log):
    """A bar on a terminal; a line each tenth elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(count, log)
        return
    columns = (TextColumn("inputs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=count)

        def advance(finding):
            log(finding)
            bar.advance(task)

        yield advance


def _lines(count, log):
    done = 0

    def advance(finding):
        nonlocal done
        log(finding)
        done += 1
        if done % max(1, count // 10) == 0:
            print(f"{done} of {count} inputs", flush=True)

    return advance


def _keep(finding):
    KEPT.mkdir(parents=True, exist_ok=True)
    name = KEPT / f"{finding.seed}-{finding.index}"
    name.with_suffix(".input").write_bytes(finding.content)
    name.with_suffix(".txt").write_text(f"{finding}\n\n{finding.trace}", errors="backslashreplace")
    return name


def main():
    """Run a campaign."""
    given = _arguments()
    seed = secrets.randbelow(10**9) if given.seed is None else given.seed
    indices = range(given.count) if given.only is None else [given.only]
    print(f"inputs from seed {seed}", flush=True)
    begun = time.monotonic()
    log = Log()
    kinds = None if given.kind is None else {given.kind}
    with _bar(len(indices), log) as observed:
        _, counts = campaign(seed, indices, observed, begun + given.seconds, kinds)
    for (what, place), often in log.met.items():
        print(f"{often} x {what} at {place}")
    text = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    passed = time.monotonic() - begun
    print(f"seed {seed}: {counts.total()} inputs in {passed:.0f} s: {text}; {len(log.met)} faults")
    return 1 if log.met else 0


if __name__ == "__main__":
    sys.exit(main())
