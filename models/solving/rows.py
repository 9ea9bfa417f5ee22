"""Methods that take a model itself: variability, simulation, and answers other than means.

They stand in the table of methods beside those for networks. Whether one applies is found by asking
it: if it refuses, it gives the reason.
"""

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from headway.errors import GraphError
from headway.lazy import loaded
from headway.queueing.methods.method import EXACT, Answers, Error, MethodRow, Subject

if TYPE_CHECKING:
    from headway.models.structure.model import Model


def by_qna(model: "Model") -> object:
    """Solve by two moments of every flow."""
    return model.solve(method="qna")


def by_simulation(model: "Model") -> object:
    """Plan a simulation; this refuses what cannot be simulated."""
    plan = loaded("headway.models.simulating.jobs:blueprint")(model)
    loaded("headway.models.simulating.planning:check_stable")(plan)
    return plan


def by_marginals(model: "Model") -> object:
    """Find the distribution of the number of jobs at each station."""
    return model.solve().queue_lengths()


def by_sojourn(model: "Model") -> object:
    """Find the distribution of the response time."""
    return model.solve().with_percentile(50.0)


def by_bounds(model: "Model") -> object:
    """Find bounds of throughput and response time."""
    solution = model.solve()
    reason = loaded("headway.models.solving.bounds:no_bounds")(solution)
    if reason:
        raise GraphError(reason)
    return solution


def by_formula(model: "Model") -> object:
    """Write the response time as a formula."""
    return loaded("headway.models.solving.symbolic:model_form")(model, "response_time")


def stated(answer: Any) -> Error:
    """The error that an answer states: none if it is exact."""
    return _STATED if answer.approximation else EXACT


_STATED = Error(inf, inf, "stated in each answer")


def _row(
    name: str,
    doc: str,
    answers: Answers,
    run: Callable[["Model"], object],
    error: Error | Callable[[Any], Error] = EXACT,
) -> MethodRow:
    """The row of a method that answers for a model itself."""
    return MethodRow(
        name,
        doc,
        (),
        {Subject.MODEL: run},
        answers=frozenset({answers}),
        error=error,
    )


METHODS = (
    MethodRow(
        "qna",
        "two moments of every flow, propagated from station to station (QNA)",
        (),
        {Subject.MODEL: by_qna},
        error=stated,
        approximates=True,
        quick=True,
    ),
    MethodRow(
        "simulation",
        "job by job, with 95% intervals",
        (),
        {
            Subject.MODEL: by_simulation,
            Subject.LAYERED: "headway.queueing.layers.methods.solve:by_events",
        },
        answers=frozenset({Answers.MEANS, Answers.TIMES}),
        error=Error(inf, inf, "the interval in each answer"),
        approximates=True,
    ),
    _row("marginals", "chances of 0, 1, 2... jobs at a station", Answers.NUMBERS, by_marginals),
    _row("sojourn", "the law of a tagged job's response time", Answers.TIMES, by_sojourn, stated),
    _row("bounds", "bounds from the busiest station and balance", Answers.BOUNDS, by_bounds),
    _row("formula", "the same laws with symbols for numbers", Answers.FORMULA, by_formula),
)
"""All methods that take a model itself."""
