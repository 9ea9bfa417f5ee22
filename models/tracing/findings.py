"""Findings about traces: what they leave open or get wrong about clocks, sampling and threads."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import inf
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from headway.errors import quoted
from headway.models.auditing.finding import Finding, FindingKind, Severity, most_severe_first
from headway.models.auditing.steady import STEADY, unsteady
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.measured.spans import files
from headway.models.tracing.keys import Key, circle_of
from headway.models.tracing.processors import ProcessorTime
from headway.models.tracing.services import Load, Services
from headway.numerals import counted, four_digits, significant, some_of, times

_TIME = unit("s")
_SURE = 1.96  # standard errors of a 95% interval
_CLEAR = 4.0  # standard errors
# error of the layers method there in nine cases of ten (docs/accuracy/layers.md)
_NEAR_SATURATION = 0.35
_FEW, _ALIKE, _NEARLY_ALL = 10, 0.05, 0.9  # calls given up, a share of their wait, and of them
_SHOWN = 5  # names listed
_SOME = 0.001  # share of lost callers from which it is a finding

CLOCKS = FindingKind(
    "clock_off",
    Severity.WARNING,
    "clocks that were corrected by `value`, so that answers lie within what asked for them",
    "times within a service are not affected",
)
SILENT = FindingKind(
    "service_not_traced",
    Severity.WARNING,
    "callees that write no spans",
    "its time is what its callers waited, and what it calls in turn is not known: instrument it",
)
UNNAMED = FindingKind(
    "service_not_named",
    Severity.WARNING,
    "spans that do not name their service",
    "all of them count as one service: set OTEL_SERVICE_NAME",
)
SCATTERED = FindingKind(
    "operations_asked_once",
    Severity.WARNING,
    "services with more than 50 operations that were asked for only once",
    "each is an entry of its own: name spans by routes, without what is in a request",
)
NO_TIME = FindingKind(
    "no_time",
    Severity.WARNING,
    "services whose requests all end as they begin",
    "they have no work in the model: export finer times",
)
NOT_TAKEN = FindingKind(
    "receivers_not_traced",
    Severity.WARNING,
    "destinations of messages that no span receives",
    "nothing in the model processes them: let their consumers keep the sender's context, or "
    "link to it",
)
LINKED = FindingKind(
    "links_followed",
    Severity.NOTE,
    "requests of which a link says what caused them: a share `value`",
    "the model sends them as messages that nobody waits for; one that takes several at once counts "
    "as sent by the first",
)
NOT_LINKED = FindingKind(
    "links_lost",
    Severity.WARNING,
    "requests that link to spans in no file: a share `value`",
    "they count as coming from outside: export the traces that they link to as well, and if traces "
    "are sampled, sample both together",
)
AGAIN = FindingKind(
    "requests_told_twice",
    Severity.NOTE,
    "spans of servers and consumers within another of their service, with no client's between",
    "each counts as a part of that one's request, by the inner server's name; if they are two "
    "requests, let their client write a span",
)
ORPHANS = FindingKind(
    "callers_not_traced",
    Severity.WARNING,
    "requests that begin traces of their own, though others of their entry have callers: a share "
    "`value`",
    "a service on their way does not pass the context on",
)
WITHIN = FindingKind(
    "callers_inferred",
    Severity.WARNING,
    "entries whose requests all begin traces, each while a call to a service without spans is "
    "open: they are counted as its calls",
    "instrument it to be sure",
)
DOUBTED = FindingKind(
    "outside_in_doubt",
    Severity.WARNING,
    "requests that count as coming from outside, `value`/s at the highest load, and that a service "
    "without spans may have made",
    "instrument it, or check that they do come from outside",
)
LOST = FindingKind(
    "spans_missing",
    Severity.WARNING,
    "spans whose parents are in no file: a share `value`",
    "the files are cut, or a span was dropped: export whole traces",
)
TWICE = FindingKind(
    "spans_twice",
    Severity.NOTE,
    "spans that are there more than once",
    "the first of each counts",
)
ALIKE = FindingKind(
    "identifiers_repeat",
    Severity.WARNING,
    "spans that differ from another of their trace, but have its identifier: `value` of them",
    "the first of each counts, so work and calls are missing: fix whatever writes the identifiers",
)
LEFT_OUT = FindingKind(
    "traces_left_out",
    Severity.WARNING,
    "traces left out because a span in them is impossible, a share `value`",
    "rates are too low by that share: fix whatever writes these spans",
)
SAMPLED = FindingKind(
    "sampled",
    Severity.NOTE,
    "loads of which the files hold a share `value` of the traces: as was said, or as spans or the "
    "identifiers of traces show",
    "rates are divided by it, and threads that whole loads do not show are found from mean times",
)
NO_RATE = FindingKind(
    "no_rate",
    Severity.WARNING,
    "loads in which one request came from outside, or all at once, so that no rate is known",
    "the model's arrival_rate is 0 there: set it, or give the traces of some time",
)
UNSEEN = FindingKind(
    "threads_not_seen",
    Severity.NOTE,
    "services no request of which was seen to wait for a thread; the least bound is `value`",
    "the model has no limit there: trace a higher load to see it",
)
ONE_LOAD = FindingKind(
    "one_load",
    Severity.WARNING,
    "services whose files hold one load only, of which not every trace was kept",
    "waiting and work cannot be told apart: its work includes the time that requests waited, so "
    "trace a second load",
)
GROWS = FindingKind(
    "work_grows",
    Severity.WARNING,
    "services whose own work takes longer in one load than in another, by a share `value`, though "
    "no pool of threads explains it",
    "either traces of that load were left out, so that nobody is seen to wait: give their share by "
    "--sampled; or its processor fills up: give its servers in [processors]",
)
PILING = FindingKind(
    "waits_grow",
    Severity.WARNING,
    "services whose requests wait longer and longer in a load of which some traces were kept",
    "it says nothing of their threads and work: trace a load that they sustain",
)
FAILED = FindingKind(
    "calls_repeated",
    Severity.NOTE,
    "calls that failed and were made again: a share `value` of all calls",
    "the model makes as many calls as the traces do, at every load",
)
GIVEN_UP = FindingKind(
    "calls_given_up",
    Severity.WARNING,
    "calls whose caller failed before they were answered: a share `value` of all calls",
    "the model's callers wait as long as these did, while the callee works on; each preset "
    "gives up the share of its load, which no other load changes: set it, or stay near these",
)
IDLE = FindingKind(
    "waits_within",
    Severity.NOTE,
    "services whose requests are at processors for a share `value` of their own time, by metrics",
    "the rest waits for what writes no spans (disks, locks, sleeps), which holds a thread but no "
    "processor in the model",
)
BEYOND = FindingKind(
    "work_outside_spans",
    Severity.WARNING,
    "services whose processors work `value` times as long as their requests' own time in spans",
    "the model has the spans' work only, so their processors fill sooner: look for work before the "
    "span begins or after it ends, or requests without spans",
)
NO_METRICS = FindingKind(
    "no_metrics",
    Severity.NOTE,
    "services about which the metrics say nothing at these loads",
    "all of their own time counts as work at a processor",
)
MISSED = FindingKind(
    "load_missed",
    Severity.WARNING,
    "loads whose mean response time the model misses by a share `value`, beyond what layers err by "
    "near saturation in nine of ten",
    "if a part of its traces was stored, or of those of another load, give the share by "
    "--sampled; if clients waited for answers, their number by --clients; if a backlog grew in "
    "it, leave that load out",
)
COME_BACK = FindingKind(
    "requests_come_back",
    Severity.NOTE,
    "requests that one of their own entry caused, over others: a share `value`",
    "the model has an entry for each time, as often as they did so in the traces",
)
ROUND = FindingKind(
    "entries_in_a_circle",
    Severity.ERROR,
    "entries that ask for each other in a circle, though no request does so",
    "the model has no answer: give one of these operations another name where another asks for it",
)
OTHERS = FindingKind(
    "files_passed_over",
    Severity.NOTE,
    "files of a folder, a pattern or an archive that are clearly not traces",
    "they are not in the model",
)


class Told(NamedTuple):
    """What traces, and a model of them, tell.

    Parameters
    ----------
    services
        The services found.
    passed_over
        Names of files that are not traces.
    answers
        The model's mean response time in each load [s]; None if it has no answer.
    """

    services: Services
    passed_over: Sequence[str] = ()
    answers: Sequence[tuple[Load, float | None]] = ()


class Check(NamedTuple):
    """A check, and the kinds of what it finds."""

    kinds: tuple[FindingKind, ...]
    look: Callable[[Told], Iterator[Finding]]


def findings_of(
    services: Services,
    passed_over: Sequence[str] = (),
    answers: Sequence[tuple[Load, float | None]] = (),
) -> tuple[Finding, ...]:
    """All findings, the most severe first.

    Parameters
    ----------
    services, passed_over, answers
        As for `Told`.
    """
    told = Told(services, passed_over, answers)
    found = (each.look(told) for each in (*OF_TRACES, *OF_MODELS))
    return most_severe_first(chain.from_iterable(found))


def findings_of_traces(services: Services, passed_over: Sequence[str] = ()) -> Iterator[Finding]:
    """Findings in the traces themselves, whatever is made of them.

    Parameters
    ----------
    services, passed_over
        As for `Told`.
    """
    for each in OF_TRACES:
        yield from each.look(Told(services, passed_over))


def _clocks(told: Told) -> Iterator[Finding]:
    services = told.services
    worst: dict[str, tuple[float, float, str]] = {}
    for each in services.requests:
        for offset in each.offsets:
            known = worst.get(offset.service, (0.0, 0.0, ""))
            if abs(offset.by) > abs(known[0]):
                worst[offset.service] = (offset.by, offset.within, each.load)
    for service, (by, within, load) in worst.items():
        if abs(by) <= within:
            continue
        scale = Scale.of([([abs(by)], _TIME)])
        side = "behind" if by > 0 else "ahead"
        yield CLOCKS.finding(
            f"the clock of {service} is {scale.text(abs(by), _TIME)} {side} in {load} (to "
            f"{scale.text(within, _TIME)}), and was corrected",
            value=by,
        )


def _silent(told: Told) -> Iterator[Finding]:
    services = told.services
    waited = set().union(*(services.asked(entry) for entry in services.entries.values()))
    for key, entry in services.entries.items():
        if entry.peer and key in waited:
            yield SILENT.finding(f"{quoted(entry.service)} writes no spans")
        elif entry.peer:
            yield NOT_TAKEN.finding(
                f"no span receives the messages that are sent to {quoted(entry.service)}"
            )


def _services(told: Told) -> Iterator[Finding]:
    services = told.services
    names = {entry.service for entry in services.entries.values() if not entry.peer}
    unnamed = sorted(name for name in names if name.startswith(files.UNNAMED_SERVICE))
    if unnamed:
        yield UNNAMED.finding(f"spans of {some_of(unnamed, _SHOWN)} do not name their service")
    once = Counter(entry.service for entry in services.entries.values() if entry.requests == 1)
    for name, count in once.items():
        if count > files.ALIKE and name in names:
            text = f"{count:,} operations of {quoted(name)} were asked for only once"
            yield SCATTERED.finding(text, value=float(count))
    each = [(load, load.service[load.end > load.start]) for load in services.requests]
    lasting = {load.services[k] for load, found in each for k in np.unique(found).tolist()}
    if timeless := sorted(names - lasting):
        yield NO_TIME.finding(f"the spans of {some_of(timeless, _SHOWN)} take no time")


def _links(told: Told) -> Iterator[Finding]:
    services = told.services
    for load in services.requests:
        for kind, count, what in (
            (LINKED, load.links.followed, "were caused by spans that they link to"),
            (NOT_LINKED, load.links.lost, "link to spans in no file, or back to themselves"),
        ):
            share = count / max(len(load.entry), 1)
            if count:
                text = f"{significant(100 * share, 2)}% of the requests in {load.load} {what}"
                yield kind.finding(text, value=share)
        if load.again:
            text = f"{load.load} has {counted(load.again, 'span')} of servers or consumers"
            yield AGAIN.finding(f"{text} within another of their service", value=load.again)


def _orphans(told: Told) -> Iterator[Finding]:
    services = told.services
    if not any(entry.peer for entry in services.entries.values()):
        return
    for load in services.requests:
        numbers, inverse = np.unique(load.entry, return_inverse=True)
        shares = np.bincount(inverse, load.outermost & ~load.lost) / np.bincount(inverse)
        for k in np.flatnonzero((shares > 0.01) & (shares <= 0.99)).tolist():
            number, share = int(numbers[k]), float(shares[k])
            yield ORPHANS.finding(
                f"{100 * share:.0f}% of the requests for {load.operation_of(number)} of "
                f"{load.service_of(number)} in {load.load} begin traces of their own",
                value=share,
            )


def _unseen_callers(told: Told) -> Iterator[Finding]:
    services = told.services
    peers = " or ".join(quoted(entry.service) for entry in services.entries.values() if entry.peer)
    for key in services.within:
        yield WITHIN.finding(
            f"every request for {_named(services, key)} begins a trace within a call to {peers}, "
            "and counts as its call"
        )
    highest = services.loads[-1]
    for key in services.doubted:
        rate = highest.rates.get(key, 0.0)
        yield DOUBTED.finding(
            f"between none and all of the {four_digits(rate)} requests/s for "
            f"{_named(services, key)} in {highest.name} may come from {peers}, not from outside as "
            "they are counted",
            value=rate,
        )


def _named(services: Services, key: Key) -> str:
    entry = services.entries[key]
    return f"{entry.operation} of {entry.service}"


def _spans(told: Told) -> Iterator[Finding]:
    services = told.services
    for load in services.requests:
        share = float(load.lost.mean()) if len(load.lost) else 0.0
        if share > _SOME:
            text = f"the parents of {100 * share:.1f}% of the requests in {load.load} are missing"
            yield LOST.finding(text, value=share)
        if load.twice:
            yield TWICE.finding(f"{load.load} has {counted(load.twice, 'span')} more than once")
        if load.left_out:
            traces = len(np.unique(load.trace)) + load.left_out
            yield LEFT_OUT.finding(
                f"{load.left_out:,} of {counted(traces, 'trace')} of {load.load} "
                f"{'was' if load.left_out == 1 else 'were'} left out: {load.why}",
                value=load.left_out / traces,
            )
        if load.alike:
            spans = counted(load.alike, "span")
            yield ALIKE.finding(
                f"{spans} of {load.load} have the identifier of another span of their trace",
                value=float(load.alike),
            )


def _failures(told: Told) -> Iterator[Finding]:
    services = told.services
    calls, repeated, given_up = map(sum, zip(*(x.failures for x in services.requests), strict=True))
    if repeated:
        share = repeated / calls
        yield FAILED.finding(
            f"{significant(100 * share, 2)}% of all calls repeat one that failed", value=share
        )
    if given_up:
        share = given_up / calls
        yield GIVEN_UP.finding(
            f"{significant(100 * share, 2)}% of all calls were given up before they were answered"
            + "".join(_timeouts(services)),
            value=share,
        )


def _timeouts(services: Services) -> Iterator[str]:
    """After how long calls of an entry were given up, where that is nearly the same for all."""
    loads = services.requests
    entries = np.concatenate([load.entry[load.given_up] for load in loads])
    waits = np.concatenate([(load.end - load.start)[load.given_up] for load in loads])
    for entry in np.unique(entries).tolist():
        mine = waits[entries == entry]
        usual = float(np.median(mine))
        if len(mine) >= _FEW and (np.abs(mine - usual) <= _ALIKE * usual).mean() > _NEARLY_ALL:
            service = loads[0].service_of(entry).rpartition(",")[0]
            after = Scale.of([([usual], _TIME)]).text(usual, _TIME)
            yield f", {loads[0].operation_of(entry)} of {service} after {after}"


def _sampled(told: Told) -> Iterator[Finding]:
    services = told.services
    partial = {load.name: load.sampled for load in services.loads if load.sampled < 1}
    if partial:
        each = [f"{four_digits(100 * share)}% of {name}" for name, share in partial.items()]
        text = f"the files hold {some_of(each, _SHOWN)}"
        yield SAMPLED.finding(text, value=min(partial.values()))


def _rates(told: Told) -> Iterator[Finding]:
    services = told.services
    without = [load.name for load in services.loads if load.rate == 0]
    if without:
        yield NO_RATE.finding(f"too few requests to tell a rate in {some_of(without, _SHOWN)}")


def _steady(told: Told) -> Iterator[Finding]:
    for load in told.services.requests:
        begun = load.start[load.outermost & ~load.lost]
        yield from unsteady(begun, load.load, len(told.services.requests))


def _coming_back(told: Told) -> Iterator[Finding]:
    services = told.services
    for load in services.requests:
        share = float(load.nested.mean()) if len(load.entry) else 0.0
        if share:
            yield COME_BACK.finding(
                f"{significant(100 * share, 2)}% of the requests in {load.load} come back to an "
                "entry that waits for them",
                value=share,
            )


def _round(told: Told) -> Iterator[Finding]:
    services = told.services
    entries = services.entries.items()
    circle = circle_of({key: services.asked(each) | each.messages.keys() for key, each in entries})
    if circle:
        names = [_named(services, key) for key in circle]
        yield ROUND.finding(f"requests go round: {' -> '.join([*names, names[0]])}")


def _missed(told: Told) -> Iterator[Finding]:
    for load, answer in told.answers:
        if answer is None or not load.response_time > 0:
            continue
        share, clear = answer / load.response_time - 1, _CLEAR * load.error / load.response_time
        if abs(share) > max(_NEAR_SATURATION, clear):
            side = "above" if share > 0 else "below"
            off = "infinite" if share == inf else f"{100 * abs(share):.0f}% {side} the traced one"
            yield MISSED.finding(
                f"the model's response time in {load.name} is {off}", value=abs(share)
            )


def _growing(told: Told) -> Iterator[Finding]:
    services = told.services
    for service, growth in services.growing.items():
        longer = (
            f"{100 * growth.share:.0f}% longer in {growth.slow} than"
            if growth.share < 1
            else f"{1 + growth.share:.0f} times as long in {growth.slow} as"
        )
        text = f"the own work of {service} takes {longer} in {growth.quick}"
        yield GROWS.finding(text, value=growth.share)
    for service, load in services.piling.items():
        yield PILING.finding(f"requests of {service} wait longer and longer in {load}")


def _threads(told: Told) -> Iterator[Finding]:
    services = told.services
    unseen = {name: pool for name, pool in services.pools.items() if not pool.seen}
    if not unseen:
        return
    if len(services.loads) == 1 and services.loads[0].sampled < 1:
        names = some_of(unseen, _SHOWN)
        yield ONE_LOAD.finding(f"{names}: one load, of which some traces were kept")
        return
    each = [f"{name} (at least {pool.low})" for name, pool in unseen.items()]
    yield UNSEEN.finding(
        f"no request was seen to wait for a thread of {some_of(each, _SHOWN)}",
        value=min(pool.low for pool in unseen.values()),
    )


def _processors(told: Told) -> Iterator[Finding]:
    services = told.services
    known = services.processor_times
    waiting: dict[str, ProcessorTime] = {}
    for service, each in known.items():
        if each.low > each.own + _SURE * each.own_error:
            spent, own = times(each.demand, each.own)
            yield BEYOND.finding(
                f"a request of {service} takes {spent} at processors, but {own} in its own spans",
                value=each.demand / each.own if each.own > 0 else inf,
            )
        elif each.high < each.own - _SURE * each.own_error:
            waiting[service] = each
    if waiting:
        parts = [
            f"{spent} of {own} in {service}"
            for service, each in waiting.items()
            for spent, own in [times(each.demand, each.own)]
        ]
        yield IDLE.finding(
            f"requests are at processors for a part of their own time: {some_of(parts, _SHOWN)}",
            value=min(each.demand / each.own for each in waiting.values()),
        )
    missing = [name for name in services.pools if known and name not in known]
    if missing:
        yield NO_METRICS.finding(f"there are no metrics of {some_of(missing, _SHOWN)}")


def _others(told: Told) -> Iterator[Finding]:
    if told.passed_over:
        names = [PurePath(name).name for name in told.passed_over]
        one = len(names) == 1
        yield OTHERS.finding(
            f"{some_of(names, _SHOWN)} {'holds' if one else 'hold'} no traces and "
            f"{'was' if one else 'were'} skipped",
            value=float(len(names)),
        )


OF_TRACES = (
    Check((CLOCKS,), _clocks),
    Check((SILENT, NOT_TAKEN), _silent),
    Check((UNNAMED, SCATTERED, NO_TIME), _services),
    Check((LINKED, NOT_LINKED, AGAIN), _links),
    Check((ORPHANS,), _orphans),
    Check((WITHIN, DOUBTED), _unseen_callers),
    Check((LOST, TWICE, LEFT_OUT, ALIKE), _spans),
    Check((FAILED, GIVEN_UP), _failures),
    Check((SAMPLED,), _sampled),
    Check((NO_RATE,), _rates),
    Check((STEADY,), _steady),
    Check((COME_BACK,), _coming_back),
    Check((OTHERS,), _others),
)
"""Checks of the traces themselves."""

OF_MODELS = (
    Check((ROUND,), _round),
    Check((MISSED,), _missed),
    Check((GROWS, PILING), _growing),
    Check((ONE_LOAD, UNSEEN), _threads),
    Check((BEYOND, IDLE, NO_METRICS), _processors),
)
"""Checks of what a model makes of traces."""
