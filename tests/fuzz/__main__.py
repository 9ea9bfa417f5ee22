"""``make fuzz-inputs``: a campaign, with its seed; exit code 1 if anything was found."""

import argparse
import contextlib
import secrets
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.fuzz.campaign import campaign

KEPT = Path("build/fuzz")
"""Where inputs that were found are kept."""


def _arguments():
    reader = argparse.ArgumentParser(prog="make fuzz-inputs", description=__doc__)
    reader.add_argument("--count", type=int, default=100_000, help="inputs to try")
    reader.add_argument("--seed", type=int, help="that made them; a random one is printed")
    reader.add_argument("--only", type=int, help="try this one input only")
    reader.add_argument("--seconds", type=float, default=float("inf"), help="begin none after")
    return reader.parse_args()


@contextlib.contextmanager
def _bar(count):
    """A bar on a terminal; a line each tenth elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(count)
        return
    columns = (TextColumn("inputs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=count)
        yield lambda: bar.advance(task)


def _lines(count):
    done = 0

    def seen():
        nonlocal done
        done += 1
        if done % max(1, count // 10) == 0:
            print(f"{done} of {count} inputs", flush=True)

    return seen


def _keep(finding):
    KEPT.mkdir(parents=True, exist_ok=True)
    name = KEPT / f"{finding.seed}-{finding.index}"
    name.with_suffix(".input").write_bytes(finding.content)
    name.with_suffix(".txt").write_text(f"{finding}\n\n{finding.trace}", errors="backslashreplace")
    return name


def _report(findings):
    """Each fault in full once, however many inputs meet it."""
    known = {}
    for finding in findings:
        known.setdefault((finding.what.partition(":")[0], finding.place), []).append(finding)
    for alike in known.values():
        name = _keep(alike[0])
        shown = f"{alike[0]}\n{alike[0].trace}"
        print(shown.encode("ascii", "backslashreplace").decode())
        print(f"met by {len(alike)} inputs; the first is kept in {name}.input\n")
    return len(known)


def main():
    """Run a campaign."""
    given = _arguments()
    seed = secrets.randbelow(10**9) if given.seed is None else given.seed
    indices = range(given.count) if given.only is None else [given.only]
    print(f"inputs from seed {seed}", flush=True)
    begun = time.monotonic()
    with _bar(len(indices)) as seen:
        findings, counts = campaign(seed, indices, seen, begun + given.seconds)
    faults = _report(findings)
    told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    passed = time.monotonic() - begun
    print(f"seed {seed}: {counts.total()} inputs in {passed:.0f} s: {told}; {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
