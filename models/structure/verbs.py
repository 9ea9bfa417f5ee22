"""What can be asked of a model that rooms above do: comparing, fitting, simulating, drawing."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias, overload

from headway.kinds import Amount, FloatArray
from headway.models.language.names import Names
from headway.models.language.verbs import perform
from headway.models.structure.display import ModelDisplay

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from headway.models.analysis.comparison import Comparison
    from headway.models.analysis.sensitivity import Sensitivity
    from headway.models.analysis.traces import TracesBeside
    from headway.models.inference.fit import Fit
    from headway.models.measured.measurements import Measurements
    from headway.models.over.days import Day
    from headway.models.over.timeline import Timeline
    from headway.models.reading.loadtest import Measured
    from headway.models.running.crews import Crew
    from headway.models.simulating.check import Check
    from headway.models.simulating.several import Simulations
    from headway.models.simulating.simulation import Simulation
    from headway.models.sizing.size import Size
    from headway.models.sweeping.reductions.reduction import Reduction
    from headway.models.sweeping.spaces import Space
    from headway.models.sweeping.sweep import Sweep
    from headway.models.uncertain.propagation import Propagation


End: TypeAlias = float | str | None
"""An end of an interval: an SI number, text with a unit, or ``None`` if it is not known."""


class ModelVerbs(ModelDisplay):
    """Verbs of a model; `headway.models.door` lists the functions behind them."""

    @overload
    def compare(
        self,
        measurements: "Measurements",
        x: str | None = None,
        y: str | None = None,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> "Comparison": ...
    @overload
    def compare(
        self,
        measurements: "Measured",
        x: str | None = None,
        y: str | None = None,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> "Comparison | TracesBeside": ...
    def compare(
        self,
        measurements: "Measured",
        x: str | None = None,
        y: str | None = None,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> "Comparison | TracesBeside":
        r"""Compare the model with measurements; see `headway.models.analysis.comparison.compare`.

        Layered services are compared with traces service by service.

        Examples
        --------
        >>> from headway.models import Measurements, catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> model.compare(curve).relative_error.round(9).tolist()  # 3 ms for 4 ms
        [-0.25]
        """
        comparison: Comparison | TracesBeside = perform(
            self, "compare", measurements, x, y, low, high
        )
        return comparison

    def closed_form(self, output: str) -> Amount:
        """Write an output of an open network or a program as a SymPy expression.

        Parameters
        ----------
        output
            As for `ModelGraph.closed_form`, which takes every parameter as positive. This method
            assumes no more than the parameters' bounds, so what depends on a parameter being zero
            stays a condition. With several classes also ``class NAME.response_time``.

        Raises
        ------
        GraphError
            For what the circulating jobs of a closed network decide.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> catalogue_model("server-single").closed_form("node.utilisation")
        arrival_rate*service_time
        """
        return perform(self, "closed_form", output)

    def fit(
        self,
        measurements: "Measured",
        free: Names = (),
        x: str | None = None,
        y: str | None = None,
        low: float = -math.inf,
        high: float = math.inf,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        loss: str = "linear",
        bootstrap: int = 0,
        executor: "Executor | Crew | None" = None,
    ) -> "Fit":
        r"""Determine parameters from measurements; see `headway.models.fit_model`.

        Parameters
        ----------
        measurements, free
            The data, and the parameters to determine: one name, or several.
        x, y, low, high
            Columns of load and output, and the range of load that counts.
        bounds
            Narrower bounds by parameter [SI].
        loss
            How residuals count: linear, soft_l1, huber or cauchy.
        bootstrap
            Rounds of bootstrap for the intervals; 0 for none.
        executor
            What runs the rounds, such as a pool of processes; by default this process alone.

        Examples
        --------
        >>> from headway.models import Measurements, catalogue_model
        >>> text = "throughput_ops_s,response_ms\n200,2.25\n500,3\n800,6\n"
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
        >>> fit = model.fit(Measurements.parse(text, "exact.csv"), "service_time")
        >>> round(fit.values["service_time"], 9)
        0.001
        """
        arguments = (measurements, free, x, y, low, high, bounds, loss, bootstrap, executor)
        fit: Fit = perform(self, "fit", *arguments)
        return fit

    def predict(self, loads: Amount, output: str = "response_time") -> FloatArray:
        """Predict an output at loads, in the way that scikit-learn's estimators predict y from X.

        Parameters
        ----------
        loads
            Arrival rates [1/s], or populations of a closed model; text such as ``"500 op/s"``; or a
            data frame or mapping whose columns are named like parameters, in SI.
        output
            The output to predict, such as ``response_time_p99`` or ``throughput``.

        Returns
        -------
        An array with a value for each load [SI]; infinite where the load is not sustained.

        Raises
        ------
        UnknownParameter, InvalidParameter, GraphError
            As for `solve`.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> model.predict([0.0, 500.0]).tolist()
        [0.002, 0.003]
        >>> model.predict({"arrival_rate": [500.0], "delay": [0.0]}).tolist()
        [0.002]
        """
        predicted: FloatArray = perform(self, "predict", loads, output)
        return predicted

    def to_networkx(self) -> Amount:
        """The graph as a ``networkx.DiGraph``: stations and numbers, routes and formulas.

        Returns
        -------
        Nodes with the attribute ``kind``, edges with ``sort`` ("route" or "formula"); routes carry
        their ``probability`` as text.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> drawn = catalogue_model("nfs-server").to_networkx()
        >>> drawn.nodes["cpu"]["kind"], drawn.edges["cpu", "disks"]["probability"]
        ('MM1', 'miss')
        """
        return perform(self, "to_networkx")

    def over(
        self,
        day: "Day | Path | str | float",
        target: float | str | None = None,
        start: str | int = "steady",
        every: float | str | None = None,
        method: str = "auto",
        percentiles: Sequence[float] = (95.0, 99.0),
    ) -> "Timeline":
        """Solve the model over a load that follows time; see `headway.models.over.over`.

        Parameters
        ----------
        day
            A CSV file of times and rates or counts, or of requests; or how long the model's own
            rates and formulas of ``t`` are followed, such as ``"24 h"``.
        target
            Response time to be kept.
        start
            Jobs present at the start: ``steady``, ``empty``, ``backlog=N``, or their number.
        every
            Length of the periods.
        method
            A method for loads that follow time; ``auto`` takes the best one.
        percentiles
            Percentiles of the response time, each between 0 and 100.

        Raises
        ------
        GraphError, InvalidParameter, MeasurementError
            For impossible days, and networks without an applicable method, with the reason.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").declare("t").station("cpu", MM1(0.1))
        >>> timeline = graph.arrive("cpu", "2 + t / 60").at(t=0).over("2 min", every="1 min")
        >>> [round(float(rate), 6) for rate in timeline["arrival_rate"]]
        [2.5, 3.5]
        """
        timeline: Timeline = perform(self, "over", day, target, start, every, method, percentiles)
        return timeline

    def sensitivity(self) -> "Sensitivity":
        """Differentiate every output for every parameter."""
        derivatives: Sensitivity = perform(self, "sensitivity")
        return derivatives

    def simulate(
        self,
        half_width: float = 0.02,
        seed: int = 1,
        percentiles: Sequence[float] = (),
        at_most: float = 3e8,
        executor: "Executor | Crew | None" = None,
    ) -> "Simulation":
        """Simulate the model job by job at its operating point.

        Parameters
        ----------
        half_width
            Relative half width of the 95% intervals of throughput, response time and each
            percentile.
        seed
            Seed of all random numbers; the same seed gives the same answer.
        percentiles
            Percentiles of the response time, each between 0 and 100, e.g. 95.
        at_most
            Most events that it may take, here a minute or so of one processor; a longer simulation
            is refused, on every machine alike.
        executor
            What plays the replicas, such as a pool of processes; the answer does not depend on it.

        Raises
        ------
        GraphError, Saturated, InvalidParameter
            As for `headway.models.simulating.runs.simulate_model`.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> model = ModelGraph("one").station("cpu", MM1(0.1)).at(arrival_rate=5)
        >>> simulation = model.simulate(half_width=0.2, percentiles=[95])
        >>> simulation["response_time_p95"].holds(0.5991)  # 0.2 ln 20
        True
        """
        options = half_width, seed, percentiles, at_most, None, executor
        simulation: Simulation = perform(self, "simulate", *options)
        return simulation

    def simulate_points(
        self,
        half_width: float = 0.02,
        seed: int = 1,
        percentiles: Sequence[float] = (),
        at_most: float = 3e8,
        executor: "Executor | Crew | None" = None,
    ) -> "Simulations":
        """Simulate the model at each of its operating points, with common random numbers.

        Parameters
        ----------
        half_width, seed, percentiles, at_most, executor
            As for `simulate`, at each point.

        Raises
        ------
        GraphError, Saturated, InvalidParameter
            As for `simulate`, with the operating point.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> model = ModelGraph("one").station("cpu", MM1(0.1)).at(arrival_rate=[2.0, 5.0])
        >>> [point["cpu.utilisation"].holds(busy) for point, busy in
        ...  zip(model.simulate_points(half_width=0.2).points, (0.2, 0.5))]
        [True, True]
        """
        options = half_width, seed, percentiles, at_most, None, executor
        simulations: Simulations = perform(self, "simulate_points", *options)
        return simulations

    def check(
        self,
        percentiles: Sequence[float] = (),
        half_width: float = 0.02,
        seed: int = 1,
        at_most: float = 3e8,
        executor: "Executor | Crew | None" = None,
    ) -> "Check":
        """Compare the solution with a simulation.

        Parameters
        ----------
        percentiles, half_width, seed, at_most, executor
            As for `simulate`.

        Raises
        ------
        GraphError, Saturated, InvalidParameter
            For what is not solved or not simulated, with the reason.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> model = ModelGraph("one").station("cpu", MM1(0.1)).at(arrival_rate=5)
        >>> model.check(half_width=0.2).outside
        ()
        """
        options = percentiles, half_width, seed, at_most, None, executor
        check: Check = perform(self, "check", *options)
        return check

    def to_toml(self) -> str:
        """The model as the text of a model file; reading it gives the same numbers."""
        text: str = perform(self, "to_toml")
        return text

    def uncertain(
        self,
        intervals: Mapping[str, tuple[End, End]],
        correlations: Mapping[tuple[str, str], float] | None = None,
    ) -> Self:
        """State the uncertainty of parameters.

        Parameters
        ----------
        intervals
            95% interval of the value by parameter: SI numbers or text with a unit, ``None`` for an
            end that is not known.
        correlations
            Correlations between -1 and 1, by pair of names, in addition to those stated before.

        Raises
        ------
        UnknownParameter
            For a name that the model does not have.
        InvalidParameter, UnitError
            For an interval that does not contain its value or leaves its bounds, and impossible
            correlations.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> model.uncertain({"delay": ("0.8 ms", None)}).parameters["delay"].interval
        (0.0008, inf)
        """
        model: Self = perform(self, "uncertain", intervals, correlations or {})
        return model

    def draws(self, count: int = 1000, seed: int = 1) -> dict[str, FloatArray]:
        """Draw values of the uncertain parameters; see `headway.models.uncertain.sampling`.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> drawn = model.uncertain({"delay": (0.9e-3, 1.1e-3)}).draws(256)
        >>> drawn["delay"].shape, bool(abs(drawn["delay"].mean() - 1e-3) < 1e-6)
        ((256,), True)
        """
        values: dict[str, FloatArray] = perform(self, "draws", count, seed)
        return values

    def size(
        self,
        targets: str | Sequence[str],
        choose: Mapping[str, Sequence[float] | FloatArray],
        cost: str,
        confidence: float | None = None,
    ) -> "Size":
        """Find the cheapest configuration that meets targets; see `headway.models.size_model`.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> pool = catalogue_model("server-pool").at(delay=0.001, service_time=0.01, servers=1)
        >>> busy = pool.at(arrival_rate=1000)
        >>> busy.size(["response_time<=12ms"], {"servers": range(1, 33)}, "400*servers")
        Size(servers=13 at 5200)
        """
        size: Size = perform(self, "size", targets, choose, cost, confidence)
        return size

    def sweep(
        self,
        space: "Space | Mapping[str, object]",
        outputs: Sequence[str] = ("response_time",),
        reduce: "Sequence[str | Reduction]" = ("moments", "quantiles=p50,p95,p99"),
        executor: "Executor | Crew | None" = None,
        method: str = "auto",
        out: "Path | None" = None,
        resume: bool = False,  # noqa: FBT001, FBT002 - as on the command line
    ) -> "Sweep":
        """Solve the model at any number of points, and keep reductions of the answers.

        Parameters
        ----------
        space
            The points; a mapping of names to values stands for every combination of them.
        outputs
            The outputs of reductions that name none of their own.
        reduce
            What to keep, such as ``quantiles=p50,p99`` or ``exceeds(response_time, 300ms)``.
        executor
            What runs the points: a `concurrent.futures.Executor` or a crew. By default, processes
            on all cores if this one alone would take longer than 5 s.
        method
            The method for a closed network, as for `solve`.
        out, resume
            A file, .npz or .parquet, for finished points; and whether to continue from it.

        Raises
        ------
        InvalidParameter, UnknownParameter, GraphError
            For a space or reduction that the model cannot have, and points that cannot be solved.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> slow = "exceeds(response_time, 5ms)"
        >>> swept = model.sweep({"arrival_rate": range(0, 1000)}, reduce=[slow])
        >>> swept.value("share above 5 ms")
        0.249
        """
        arguments = (space, outputs, reduce, executor, method, out, resume)
        swept: Sweep = perform(self, "sweep", *arguments)
        return swept

    def global_sensitivity(
        self,
        outputs: Sequence[str] = ("response_time",),
        ranges: "Mapping[str, object] | None" = None,
        samples: int = 16384,
        seed: int = 1,
        executor: "Executor | Crew | None" = None,
    ) -> "Sweep":
        """First and total Sobol indices of outputs, each with its 95% interval.

        Parameters
        ----------
        outputs
            Names of outputs; all must be finite everywhere.
        ranges
            (low, high) in SI, or equally likely values, by parameter; by default the intervals and
            correlations of uncertain parameters.
        samples, seed
            Number of samples, of 16 replicates together; the same seed draws the same.
        executor
            What runs the points, as for `sweep`.

        Raises
        ------
        InvalidParameter, UnknownParameter
            For names that the model does not have, and if there is no parameter to vary.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> ranges = {"arrival_rate": (0.0, 100.0), "delay": (0.001, 0.002)}
        >>> indices = model.global_sensitivity(ranges=ranges, samples=1024)
        >>> round(indices.value("first index of delay"), 2)
        0.98
        """
        arguments = (outputs, ranges, samples, seed, executor)
        indices: Sweep = perform(self, "global_sensitivity", *arguments)
        return indices

    def propagate(
        self,
        draws: int = 1000,
        seed: int = 1,
        method: str = "auto",
        percentiles: Sequence[float] = (),
    ) -> "Propagation":
        """Solve the model with a 95% band for every output, from its uncertain parameters.

        Parameters
        ----------
        draws, seed
            Sets of values drawn, from 100 to 100,000; the same seed draws the same.
        method
            The method for a closed network, as for `solve`.
        percentiles
            Percentiles of the response time to add: 95 for p95.

        Raises
        ------
        InvalidParameter
            If nothing is uncertain, or an interval has an end that is not known.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> result = model.uncertain({"service_time": ("0.9 ms", "1.1 ms")})
        >>> bands = result.at(arrival_rate=[500, 950]).propagate()
        >>> bands.saturated_share.round(1).tolist()  # above 1/950 s
        [0.0, 0.2]
        """
        bands: Propagation = perform(self, "propagate", draws, seed, method, percentiles)
        return bands
