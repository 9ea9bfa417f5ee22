"""Global sensitivity of a model: first and total Sobol indices, by a sweep of crossed samples."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np

from headway.models.running.crews import Crew
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.models.sweeping.crossing.crossed import (
    Crossed,
    Independent,
    ParameterDistribution,
    Uncertain,
)
from headway.models.sweeping.kernel import block_of
from headway.models.sweeping.making import Values, sobol, suited
from headway.models.sweeping.quantities import known_names, known_units
from headway.models.sweeping.reductions.crossing import REPLICATES, Crossing
from headway.models.sweeping.reductions.indices import Indices
from headway.models.sweeping.sweep import Sweep
from headway.models.sweeping.sweeping import Progress, sweep_model
from headway.models.uncertain.sampling import check_whole, joint

LEAST_SAMPLES, MOST_SAMPLES = 2**8, 2**36
"""Most samples of all replicates together."""

SAMPLES = 2**14
"""Default number of samples."""


def global_sensitivity(
    model: Model,
    outputs: Sequence[str] = ("response_time",),
    ranges: Mapping[str, Values] | None = None,
    samples: int = SAMPLES,
    seed: int = 1,
    executor: Crew | Executor | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """First and total Sobol indices of outputs, each with its 95% interval.

    The model is solved at `samples` times (number of parameters + 2) points, or `samples` times 4
    times the number of parameters if some are correlated.

    Parameters
    ----------
    model
        The model; parameters that are not varied keep their values.
    outputs
        Names of outputs; they must be finite everywhere, because an infinite variance has no
        shares.
    ranges
        Range of each parameter, independently: (low, high) in SI, or equally likely values, as for
        `headway.models.sweeping.making.sobol`. By default, the intervals and correlations of the
        model's uncertain parameters.
    samples
        Number of samples in 16 replicates together; rounded up so that each has a power of two.
    seed
        A whole number of 0 or more.
    executor, progress
        Workers and progress function, as for a sweep.

    Raises
    ------
    InvalidParameter
        For unknown parameters or outputs, no parameter to vary, or a number of samples out of
        bounds.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> ranges = {"arrival_rate": (0.0, 100.0), "delay": (0.001, 0.002)}
    >>> answer = global_sensitivity(model, ranges=ranges, samples=1024)
    >>> round(answer.value("first index of delay"), 2)
    0.98
    """
    check_whole("samples", samples, LEAST_SAMPLES, MOST_SAMPLES)
    check_whole("seed", seed, 0, 2**63)
    law = _law(model, ranges)
    first = model.at(law.values(np.full((1, len(law.names)), 0.5), 0)).solve()
    units = known_units(first)
    names = known_names(outputs, units)
    block = block_of(first.answering(*names), tuple(names), law.ends())
    crossing = _crossing(law, samples, block)
    space = Crossed(law, crossing, seed)
    reductions = [Indices(name, units[name], law.names, crossing) for name in names]
    return sweep_model(
        model,
        space,
        outputs=names,
        reduce=reductions,
        executor=executor,
        progress=progress,
    )


def _crossing(law: ParameterDistribution, samples: int, most: int) -> Crossing:
    """Blocks of a sweep, or smaller ones if these suffice for a replicate."""
    each = 2 ** ((samples - 1) // REPLICATES).bit_length()
    whole = Crossing(len(law.names), together=law.together, samples=each, block=most)
    return replace(whole, block=min(most, 2 ** (each * whole.rows - 1).bit_length()))


def _law(model: Model, ranges: Mapping[str, Values] | None) -> ParameterDistribution:
    if ranges is None:
        return Uncertain(joint(model))
    space = sobol(ranges, 1)
    suited(space, model)
    return Independent(space.parameters).counting(counts(model.exposing(*space.names).graph))
