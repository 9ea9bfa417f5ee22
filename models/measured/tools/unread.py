"""Outputs of tools that say no more than another of their outputs, which headway reads."""

import re

from headway.records import dataclass


@dataclass(frozen=True)
class Unread:
    """An output that headway recognises but does not read.

    Parameters
    ----------
    what
        A description of it.
    marks
        How it begins, or one of its first lines.
    instead
        What to read instead.
    """

    what: str
    marks: re.Pattern[str]
    instead: str


def _row(what: str, marks: str, instead: str) -> Unread:
    return Unread(what, re.compile(marks, re.MULTILINE), instead)


UNREAD = (
    _row("a test plan of JMeter", r"<jmeterTestPlan\b", "read the results of the run (-l run.jtl)"),
    _row(
        "Locust's list of exceptions",
        r"\A\s*Count,Message,Traceback",
        "read the totals, in the file that ends in _stats.csv",
    ),
    _row(
        "Locust's list of failures",
        r"\A\s*Method,Name,Error,Occurrences",
        "read the totals, in the file that ends in _stats.csv",
    ),
    _row(
        "Locust's console output",
        r"^[ \t]*Type[ \t]+Name[ \t]+# reqs[ \t]+# fails",
        "run locust with --csv and read the file that ends in _stats.csv",
    ),
    _row(
        "a page of Gatling's report",
        r"<title>Gatling Stats",
        "read the run's simulation.log",
    ),
    _row(
        "requests in the order of their times, for gnuplot",
        r"\A\s*starttime\tseconds\tctime\tdtime\tttime\twait",
        "read what ab prints, or what it writes with -e",
    ),
    _row(
        "pgbench's log of intervals",
        r"\A1\d{9} \d+ \d+ \d+ \d+ \d+(?: \d+)*\s*$",
        "run pgbench without --aggregate-interval, or read what it prints",
    ),
    _row(
        "vegeta's results as they are sent",
        r"\x06Attack[^A-Za-z]+Seq[^A-Za-z]+Code",
        "read what vegeta encode makes of them, or vegeta report",
    ),
    _row("Tsung's log", r"^# stats: dump at \d+", "read its samples as CSV with a time each"),
)
"""All of them; `what_is_unread` tries them in this order."""

_HEAD = 8_000
"""Characters at the start of a file by which its kind is recognised."""


def unread(text: str) -> Unread | None:
    """The kind of an output that headway recognises but does not read; None for any other text.

    Examples
    --------
    >>> unread("Count,Message,Traceback,Nodes").what
    "Locust's list of exceptions"
    >>> unread("load_ops_s,response_ms") is None
    True
    """
    head = text[:_HEAD]
    return next((each for each in UNREAD if each.marks.search(head)), None)
