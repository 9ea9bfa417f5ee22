"""What the campaigns behind the documents' tables share: tasks for workers, stored rows, progress.

Each campaign takes ``--workers N`` or ``--cluster ADDRESS``. Each task draws from a seed of its
own, and results come in the order of the tasks, so any number of workers gives the same table.
"""

import csv
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import numpy as np

from headway.cli.crews import crew_for
from headway.models.running.spreading import spread


def run(spec):
    """Run a module's `main` under the module's own name: workers cannot import ``__main__``."""
    raise SystemExit(import_module(spec.name).main())


def parser(about):
    """The options of a campaign that say who does the work."""
    result = ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)
    either = result.add_mutually_exclusive_group()
    either.add_argument("--workers", type=int, metavar="N", help="processes that share the work")
    either.add_argument("--cluster", metavar="ADDRESS", help="a dask scheduler, whose workers do")
    return result


@contextmanager
def shared(options):
    """A replacement for `map`: results in order, computed by the workers that the options name."""
    with crew_for(options.workers, options.cluster) as crew:
        yield partial(_done, crew)


def seeded(function, about, count, arguments=None):
    """Run a command's ``--count`` and ``--seed``: one task per seed, in their order."""
    args, seeds = _asked(about, count, arguments)
    with shared(args) as done:
        yield from done(function, seeds)


def seeded_rows(function, about, count, page, titles):
    """Run seeds that have some rows each, and store all these rows."""
    rows = [row for each in seeded(function, about, count) for row in each]
    store(page, titles, rows)
    return rows


def renewed(function, about, count, page, titles, arguments=None):
    """Run seeds and store their rows, which begin with the seed, in place of earlier ones.

    Rows of other seeds are kept, so that a long campaign can be run by several commands.
    """
    args, seeds = _asked(about, count, arguments)
    known = stored_rows(page) if page.exists() else []
    kept = [tuple(row.values()) for row in known if int(row["seed"]) not in seeds]
    with shared(args) as done:
        fresh = [row for rows in done(function, seeds) for row in rows]
    store(page, titles, sorted([*kept, *fresh], key=lambda row: int(row[0])))


def _asked(about, count, arguments):
    options = parser(about)
    options.add_argument("--count", type=int, default=count)
    options.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    args = options.parse_args(arguments)
    return args, range(args.seed, args.seed + args.count)


def stored_rows(page):
    """The rows of a file, by title; lines that begin with # are comments."""
    with page.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def stored_numbers(page, titles):
    """The simulated numbers, shape (rows, titles)."""
    return np.array([[float(row[title]) for title in titles] for row in stored_rows(page)])


def store(page, titles, rows):
    """Write rows with their titles."""
    with page.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(titles)
        writer.writerows(rows)


def stored_or_simulated(about, page, titles, simulate):
    """Compute and store the rows of a file; with ``--stored``, only print its tables."""
    options = ArgumentParser(description=about.splitlines()[0])
    options.add_argument("--stored", action="store_true", help="print what the file contains")
    if options.parse_args().stored:
        return
    store(page, titles, list(simulate()))


def _done(crew, function, tasks):
    given, began = list(tasks), time.monotonic()
    for number, result in enumerate(spread(function, given, crew), 1):
        _tell(number, len(given), time.monotonic() - began)
        yield result


def _tell(number, count, seconds):
    """Show progress on a terminal, in a line that the next row of the table overwrites."""
    if sys.stderr.isatty():
        left = seconds / number * (count - number)
        line = f"{number} of {count}, {number / seconds:.3g}/s, {left:.0f} s left"
        print(f"\r{line}\x1b[K", end="\r", file=sys.stderr, flush=True)
