"""The question of a page on a model, and its answer in a sentence: what fills first, and where."""

import math

import numpy as np

from headway.errors import HeadwayError
from headway.models.analysis.kept import Kept, kept_by_model
from headway.models.analysis.retries import Retries
from headway.models.analysis.saturating import saturating_load
from headway.models.analysis.sensitivity import StationLimit
from headway.models.inference.quantities import ServerQuantity
from headway.models.language.digits import ends
from headway.models.language.scales import Scale, units_of
from headway.models.language.titles import spoken
from headway.models.reports.alone import ModelReport
from headway.models.reports.between.limits import full_loads
from headway.models.reports.contents import Headline
from headway.models.reports.kinds.tipping import tipping_headline
from headway.models.reports.report import Report
from headway.models.reports.words import input_words, one_percent
from headway.models.showing.parts.layers import fullest
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.records import dataclass

_BESIDE = 0.01  # share of an end of an interval by which a load may miss it
_FEW = 4  # points of a curve that may level off; chosen
_NEARLY, _FLAT = 0.95, 0.98  # of the highest throughput: from where on it hardly grows; chosen


@dataclass(frozen=True)
class First:
    """The first to fill: its name, whether it is plural, and the share in use if known."""

    name: str
    is_several: bool = False
    share: float | None = None

    @property
    def fills(self) -> str:
        """A clause that says that it fills first."""
        used = "" if self.share is None else f", {self.share:.0%} in use"
        return f"{self.name} {'fill' if self.is_several else 'fills'} first{used}"

    def __str__(self) -> str:
        return self.name if self.share is None else f"{self.name} ({self.share:.0%} in use)"


def headline(report: Report | ModelReport, states: Retries | None) -> Headline:
    """The question and answer of a page with a model.

    Parameters
    ----------
    report
        What the page is about.
    states
        States of a server whose clients retry; None for any other model.
    """
    effects = report.sensitivity
    if report.kept is not None:
        return _of_target(report, report.kept)
    if effects is None:
        return Headline(_load_question(report), _nothing_sustained(report))
    if effects.model.graph.layers:
        return _of_layers(report, effects.solution)
    if not effects.solution.stations:
        return _of_program(report)
    if states:
        return tipping_headline(report, states, _now(report, effects.solution))
    if effects.model.is_closed:
        return Headline(_clients_question(report), _closed(report, effects.solution))
    return Headline(_load_question(report), _open(report, effects.solution))


def _of_target(report: Report | ModelReport, kept: Kept) -> Headline:
    """The highest load that keeps a limit, and what fills first."""
    scale, load = units_of(report), spoken(kept.load) if kept.is_count else ""
    under = f"{kept.what} under {kept.limit(report.model, scale)}"
    much = f"How many {load}" if load else "How much load"
    question = f"{much} can {_called(report)} take with {under}?"
    if kept.is_none:
        return Headline(question, _sentence(f"no load, however low, keeps {under}"))
    shown, first = kept.shown(scale), fills_first(report)
    least = f"{shown} keep {under}; no measurement shows an upper end"
    said = least if math.isinf(kept.high) else f"up to {shown} keep {under}"
    said += _by_best_form(report, kept)
    return Headline(question, _sentence(f"{said}; {first.fills}" if first else said))


def _by_best_form(report: Report | ModelReport, kept: Kept) -> str:
    """What the form that the chart draws says alone, where all that fit together say another."""
    if not isinstance(report, Report) or report.forms is None or report.sensitivity is None:
        return ""
    try:
        alone = kept_by_model(report.sensitivity.model, kept.load, kept.goal)
    except HeadwayError:
        return ""
    if kept.low * (1 - _BESIDE) <= alone.value <= kept.high * (1 + _BESIDE):
        return ""
    return f"; the best form alone, which the chart draws, says {alone.shown(units_of(report))}"


def _load_question(report: Report | ModelReport) -> str:
    return f"How much load can {_called(report)} take?"


def _clients_question(report: Report | ModelReport) -> str:
    name = load_parameter(report)
    counted = name is not None and name in counts(report.model.graph)
    who = spoken(name) if name and counted else "clients"
    return f"How many {who} can {_called(report)} serve?"


def _called(report: Report | ModelReport) -> str:
    """The system's name in the question; a server of unknown inside has no other."""
    return "this server" if isinstance(report, Report) and report.forms else report.title


def subject(report: Report | ModelReport) -> str:
    """The line above the question: the model, and what it is compared with."""
    if isinstance(report, ModelReport):
        return report.title
    how = "fitted to" if report.fit else "against"
    return f"{report.title}, {how} {report.measurements.source.rpartition('/')[2]}"


def load_parameter(report: Report | ModelReport) -> str | None:
    """The parameter that is the load; None if no single one is."""
    return report.comparison.load_parameter if isinstance(report, Report) else report.load


def _nothing_sustained(report: Report | ModelReport) -> str:
    solution = report.comparison.solution  # type: ignore[union-attr]
    return f"Every measured load saturates the model: {solution.saturation_message}."


def limit_of(report: Report | ModelReport) -> ServerQuantity | None:
    """The load that saturates, with its interval if a fit determines it."""
    if report.saturation is not None or not _limits(report):
        return report.saturation
    limit = _limits(report)[0].saturation_throughput
    if isinstance(report, ModelReport) and report.load == "arrival_rate" and report.curve:
        limit = saturating_load(report.curve, report.load)
    return ServerQuantity("saturation throughput", limit, limit, limit, "op/s")


def _is_least(limit: ServerQuantity | None) -> bool:
    """Whether only a lower end of the load that saturates is known."""
    return limit is not None and limit.low != limit.high and not limit.determined


def limit_words(report: Report | ModelReport) -> str:
    """The load that saturates as text; empty if none does."""
    limit, scale = limit_of(report), units_of(report)
    unit = report.model.meaning("throughput").unit
    if limit is None or not math.isfinite(limit.value):
        return ""
    value = scale.text(limit.value, unit)
    if limit.low == limit.high:
        return value
    if _is_least(limit):
        return f"at least {scale.text(limit.low, unit)}"
    return f"{value} (95%: {ends(limit.low, limit.high, scale.unit(unit))})"


def fills_first(report: Report | ModelReport) -> First | None:
    """The station, or the pool or processor of layers, that fills first."""
    effects = report.sensitivity
    if effects is None:
        return None
    layers = effects.model.graph.layers
    if layers is not None:
        most = fullest(effects.solution, layers)
        return First(most.words, most.is_pool, most.share)
    return First(effects.bottlenecks[0].station) if len(effects.bottlenecks) > 1 else None


def _open(report: Report | ModelReport, solution: Solution) -> str:
    """What saturates first, where, and how certain that is; then the operating point."""
    now, limit = _now(report, solution), limit_words(report)
    many = sum(math.isfinite(b.saturation_throughput) for b in _limits(report)) > 1
    who = f"{solution.bottleneck} fills first" if many else "the queue grows without end"
    if not limit:
        return _sentence(f"Nothing saturates; {now}")
    if _is_least(limit_of(report)):
        return _sentence(f"{limit}; the test did not go high enough to show the limit; {now}")
    return _sentence(f"up to {limit}, where {who}; {now}")


def _limits(report: Report | ModelReport) -> tuple[StationLimit, ...]:
    """Stations in the order in which they limit the model."""
    return report.sensitivity.bottlenecks if report.sensitivity else ()


def _closed(report: Report | ModelReport, solution: Solution) -> str:
    """The largest throughput, and the number of clients from which more only wait."""
    now, limit = _now(report, solution), limit_words(report)
    knee = float(np.ravel(np.asarray(solution.knee_population))[0])
    if not limit or not math.isfinite(knee):
        return _sentence(f"Nothing saturates; {now}")
    few = f"{max(1, math.ceil(knee)):,}"
    if _is_least(limit_of(report)):
        reach = f"throughput reaches {limit}; the test did not go high enough to show its limit"
        return _sentence(f"Above about {few} clients, more clients only wait: {reach}; {now}")
    alone = len(_limits(report)) == 1
    who = "throughput levels off" if alone else f"{solution.bottleneck} fills first,"
    return _sentence(f"Above about {few} clients, more clients only wait: {who} at {limit}; {now}")


def _now(report: Report | ModelReport, solution: Solution) -> str:
    """The output at the operating point, and the load there."""
    output = report.comparison.output if isinstance(report, Report) else report.output
    scale, model = units_of(report), solution.model
    value = scale.text(float(np.ravel(solution[output])[0]), model.meaning(output).unit)
    where = load_words(report, model, scale)
    at = f"at {where} " if where else ""
    return f"{at}the {output.replace('_', ' ')} is {value}"


def load_words(report: Report | ModelReport, model: Model, scale: Scale) -> str:
    """The load at the operating point; empty if no parameter is the load."""
    name = load_parameter(report)
    return "" if name is None else input_words(model, name, scale)


def _of_layers(report: Report | ModelReport, solution: Solution) -> Headline:
    """The fullest pool or processor."""
    first, now = fills_first(report), _now(report, solution)
    is_open = load_parameter(report) == "arrival_rate"
    upto = _fills_at(report, solution.model) if is_open else _levels_off(report)
    said = upto + (f"{first.fills}; {now}" if first else now)
    asked = _load_question(report) if is_open else _clients_question(report)
    return Headline(asked, _sentence(said))


def _fills_at(report: Report | ModelReport, point: Model) -> str:
    """Up to which rate of requests from outside nothing is full."""
    if isinstance(report, ModelReport):
        full = report.full
    else:
        full = float(np.min(full_loads(point, "arrival_rate", {}), initial=np.inf))
    if not math.isfinite(full):
        return ""
    most = units_of(report).text(full, point.parameters["arrival_rate"].unit)
    return f"up to about {most}: "


def _levels_off(report: Report | ModelReport) -> str:
    """From how many clients on the throughput hardly grows, where the curve shows it."""
    if not isinstance(report, ModelReport) or report.curve is None or report.load is None:
        return ""
    loads = np.ravel(np.asarray(report.curve.model.inputs[report.load], float))
    rates = np.ravel(np.broadcast_to(report.curve["throughput"], loads.shape))
    most = float(rates.max(initial=0.0))
    if (
        report.load not in counts(report.model.graph)
        or rates.size < _FEW
        or rates[-2] < most * _FLAT
    ):
        return ""
    after = int(np.argmax(rates >= most * _NEARLY))
    around = slice(max(after - 1, 0), after + 1)  # the rate grows up to there
    few = math.ceil(np.interp(most * _NEARLY, rates[around], loads[around]))
    unit = report.model.meaning("throughput").unit
    return (
        f"above about {few:,} {spoken(report.load)}, throughput levels off at "
        f"{units_of(report).text(most, unit)}: "
    )


def _of_program(report: Report | ModelReport) -> Headline:
    """The parameter that matters most to the first output."""
    effects = report.sensitivity
    assert effects is not None  # noqa: S101 - only then it is called
    output, each = next(iter(effects.effects.items()))
    words = output.replace("_", " ")
    sizes = {n: e.elasticity for n, e in each.items() if math.isfinite(e.elasticity)}
    question = f"What does the {words} of {report.title} depend on?"
    now = _now(report, effects.solution)
    if not any(sizes.values()):
        return Headline(question, _sentence(now))
    name = max(sizes, key=lambda n: round(abs(sizes[n]), 6))
    return Headline(
        question, _sentence(f"mostly on {one_percent(name, sizes[name], words)}; {now}")
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
