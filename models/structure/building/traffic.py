"""Stations of a graph that is being built, the jobs that come to them, and their routes."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from headway.errors import GraphError, InvalidParameter, nearest
from headway.models.language.formula import formula
from headway.models.language.frozen import adding
from headway.models.structure.building.reading import Expression, Reading
from headway.models.structure.parts.class_ways import EVERY
from headway.models.structure.parts.components import Component, Route
from headway.models.structure.parts.forks import check_branches
from headway.models.structure.parts.orders import check_order
from headway.models.structure.parts.regions import Region, check_region
from headway.models.structure.parts.routes import check_ends
from headway.models.structure.parts.structure import CLASS_KEYS
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.table import DEFAULT
from headway.queueing.stations.abilities import QueueChoice
from headway.queueing.stations.base import Station
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.queueing.flows.courses import Course


@dataclass(frozen=True, eq=False)
class TrafficBuilding(Reading):
    """The part of a graph that adds stations, classes of jobs, routes and arrivals."""

    def station(
        self,
        name: str,
        station: Station,
        visits: Expression | Mapping[str, Expression] | None = None,
        service_times: Mapping[str, Expression] | None = None,
        discipline: str = DEFAULT,
        scvs: Mapping[str, Expression] | None = None,
        blocking: str = "",
        replicas: Expression | None = None,
        route: str = QueueChoice.RANDOM,
        drop_older_than: Expression | None = None,
    ) -> Self:
        """Add a station; the first one is where jobs arrive unless `arrive` says otherwise.

        Parameters
        ----------
        name, station
            What formulas and tables call the station, and its kind with its numbers.
        visits
            Mean visits of a job, for all classes or by class, in place of routes.
        service_times
            Service time by class, for every class that comes, if it is not that of `station` for
            all.
        discipline
            ``fcfs`` serves in order of arrival, ``ps`` shares the servers among all present,
            ``lcfs`` is interrupted by the latest arrival, ``siro`` picks a job at random;
            ``priority`` serves the highest priority first, ``preemptive`` also interrupts lower
            ones for it.
        scvs
            Squared coefficient of variation of service times by class, for kinds that have one, if
            it is not that of `station` for all.
        blocking
            What becomes of jobs that find a kind with ``places`` full: ``after service`` holds a
            job at the server that has served it; ``repetitive`` serves it again and chooses its
            route anew; by default it is lost. Jobs from outside are always lost.
        replicas
            Number of equal copies, each with its own queue; results are those of all together.
        route
            How a job chooses among the copies, or among the queues of a `Parallel`: ``random``,
            ``round-robin``, ``two-choices`` (the shorter of two drawn at random) or ``shortest``.
        drop_older_than
            Age of a request beyond which it is dropped, without service, when its turn comes [s].

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").station("disk", MM1(0.02), visits=0.5)
        >>> graph.at().solve(arrival_rate=10)["disk.utilisation"]  # 10 * 0.5 * 0.02
        0.1
        """
        try:
            order = Discipline(discipline)
            if replicas is not None:
                from headway.queueing.stations.listed.replicated import replicated

                station = replicated(station, replicas)
            choice = QueueChoice.RANDOM if route == QueueChoice.RANDOM else _chosen(route, station)
        except (GraphError, InvalidParameter) as error:
            msg = f"{name}: {error}"
            raise GraphError(msg) from None
        check_order(name, type(station), order)
        if blocking:
            from headway.queueing.network.blocking import check_blocking

            check_blocking(name, blocking, can_be_full=station.can.loses)
        numbers = {field.name: getattr(station, field.name) for field in fields(station)}  # type: ignore[arg-type]
        graph, own = self._fields(name, numbers)
        by_class = visits if isinstance(visits, Mapping) else {"": visits}
        graph, read = graph._read_all(by_class, f"{name}.visits")
        graph, times = graph._read_all(service_times or {}, f"{name}.service_time")
        graph, spreads = graph._read_all(scvs or {}, f"{name}.scv")
        graph, ages = graph._read_all({"": drop_older_than}, f"{name}.drop_older_than")
        component = Component(
            type(station),
            own,
            visits=read,
            service_times=times,
            discipline=order,
            scvs=_of_any(name, station, spreads),
            blocking=str(blocking),
            choice=choice,
            oldest=ages.get(""),
        )
        return replace(graph, stations=adding(graph.stations, name, component))

    def fork(
        self,
        name: str,
        branches: Sequence[str],
        needed: Expression | None = None,
        visits: Expression | None = None,
    ) -> Self:
        """Add a place where a request goes to several stations at once, and waits for its parts.

        Parameters
        ----------
        name
            What formulas and tables call it.
        branches
            Stations of the graph, each of which serves a part. Other jobs that come to them follow
            their own routes; parts return here.
        needed
            Number of parts that must be done; by default all. The others are done all the same.
        visits
            As for `station`.

        Raises
        ------
        GraphError
            For a branch that does not exist.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("write").station("cpu", MM1(1e-3))
        >>> graph = graph.station("disk", MM1(8e-3)).station("log", MM1(8e-3))
        >>> graph = graph.fork("written", ["disk", "log"]).route("cpu", "written")
        >>> answer = graph.at().solve(arrival_rate=62.5)
        >>> round(answer["written.response_time"], 7)  # (12 - U) / 8 S / (1 - U)
        0.023
        """
        from headway.queueing.forks.fork import Fork

        check_branches(self.stations, name, branches)
        graph, read = self._fields(name, {"needed": len(branches) if needed is None else needed})
        graph, made = graph._read_all({"": visits}, f"{name}.visits")
        component = Component(Fork, read, visits=made, branches=tuple(branches))
        return replace(graph, stations=adding(graph.stations, name, component))

    def region(self, name: str, stations: Sequence[str], limit: Expression) -> Self:
        """Limit the jobs at several stations together; the others wait, in order of arrival.

        Threads, connections and windows are such limits.

        Parameters
        ----------
        name
            What formulas and tables call it: ``threads.waiting_time``, ``threads.full``.
        stations
            Its stations, of kinds with a product form and without limits of their own.
        limit
            Most jobs inside at once, a whole number of 1 or more, or a formula.

        Raises
        ------
        GraphError
            For stations that do not exist, cannot be in a region, or are in another.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).region("threads", ["cpu"], limit=1)
        >>> round(one.at().solve(arrival_rate=5)["threads.waiting_time"], 12)  # M/M/1
        0.1
        """
        members = tuple(stations)
        taken = {one: n for n, region in self.regions.items() for one in region.stations}
        check_region(name, members, self.stations, taken)
        graph, read = self._fields(name, {"limit": limit})
        region = Region(members, read["limit"])  # type: ignore[arg-type]
        return replace(graph, regions=adding(graph.regions, name, region))

    def job_class(
        self,
        name: str,
        arrival_rate: Expression | None = None,
        population: Expression | None = None,
        think_time: Expression | None = None,
        priority: Expression | None = None,
        arrival_scv: Expression | None = None,
        arrives: str | Mapping[str, Expression] | None = None,
        reference: str | None = None,
    ) -> Self:
        """Add a class of jobs: open with an arrival rate, or closed with a population.

        Parameters
        ----------
        name
            What formulas, routes and tables call it.
        arrival_rate, population, think_time
            Rate at which its jobs arrive [1/s]; or number of jobs that circulate, and their think
            time [s].
        priority
            Priority, 1 being the highest; each class has one if a station serves by priority.
        arrival_scv
            Squared coefficient of variation of an open class's interarrival times; 1 for Poisson
            arrivals, the default if no class gives one. If one does, variability is propagated.
        arrives
            Station where an open class enters, or its shares by station; by default where all
            classes do.
        reference
            Station where rounds of a closed class begin, and end if nothing leaves; by default the
            first.

        Raises
        ------
        GraphError
            For a class given twice, both or neither of rate and population, a reference for an open
            class, and arrivals or their scv for a closed one.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("g").job_class("web", 2.0).job_class("batch", 3.0)
        >>> times = {"web": 0.1, "batch": 0.2}
        >>> graph = graph.station("cpu", MM1(0.1), service_times=times, discipline="ps")
        >>> round(graph.at().solve()["cpu.utilisation"], 12)  # 2 * 0.1 + 3 * 0.2
        0.8
        """
        if name in self.classes or not name.isidentifier():
            msg = f"class {name!r} is defined twice or is not a valid name; rename it"
            raise GraphError(msg)
        if (arrival_rate is None) == (population is None):
            msg = f"class {name} needs either an arrival_rate (open) or a population (closed)"
            raise GraphError(msg)
        if population is not None and arrival_scv is not None:
            msg = f"class {name}: arrival_scv is for open classes; delete it, or the population"
            raise GraphError(msg)
        _check_courses(name, self.arrival_courses)
        numbers = (arrival_rate, population, think_time, priority, arrival_scv)
        values = dict(zip(CLASS_KEYS, numbers, strict=True))
        graph, read = self._read_all(values, f"class {name}")
        graph = replace(graph, classes=adding(graph.classes, name, read))
        return graph._entering(name, arrives)._returning(name, reference)

    def _entering(self, name: str, arrives: str | Mapping[str, Expression] | None) -> Self:
        if arrives is None:
            return self
        if "population" in self.classes[name]:
            msg = (
                f"class {name}: arrives is for open classes; give a closed class a "
                "reference station"
            )
            raise GraphError(msg)
        shares = {arrives: 1.0} if isinstance(arrives, str) else arrives
        graph, read = self._read_all(shares, f"class {name}: arrives")
        if all(share.constant == 0 for share in read.values()):
            msg = f"class {name}: all shares of arrives are 0; give one station a share above 0"
            raise GraphError(msg)
        ways = graph.class_ways
        return replace(graph, class_ways=replace(ways, arrives={**ways.arrives, name: read}))

    def _returning(self, name: str, reference: str | None) -> Self:
        if reference is None:
            return self
        if "arrival_rate" in self.classes.get(name, ()):
            msg = f"class {name}: reference is for closed classes; give an open class arrives"
            raise GraphError(msg)
        ways = self.class_ways
        return replace(
            self, class_ways=replace(ways, references={**ways.references, name: reference})
        )

    def reference(self, station: str) -> Self:
        """Set the station where the rounds of a closed network begin and end.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> two = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.2))
        >>> two = two.route("cpu", "disk").route("disk", "cpu").reference("disk")
        >>> round(two.at().solve(population=1).response_time, 12)
        0.3
        """
        return self._returning(EVERY, station)

    def route(
        self,
        source: str,
        target: str,
        probability: Expression = 1.0,
        job_class: str = "",
        becomes: str = "",
    ) -> Self:
        """Send a share of the jobs that leave one station to another.

        The remaining jobs leave the system.

        Parameters
        ----------
        source, target, probability
            The stations that the route joins, and the share of jobs that take it.
        job_class
            The class that takes it; by default every class.
        becomes
            The class that these jobs change into; by default none.

        Raises
        ------
        GraphError
            For a station that does not exist, or a route given twice.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.1))
        >>> graph = graph.route("cpu", "disk", 0.5).route("disk", "cpu")
        >>> graph.at().solve(arrival_rate=3)["cpu.visits"]  # 1 / (1 - 0.5)
        2.0
        """
        check_ends(self.stations, source, target)
        graph, read = self._read(probability, f"route {source} -> {target}: probability")
        route = Route(source, target, read, job_class, becomes)
        if job_class or becomes:
            return replace(graph, class_ways=graph.class_ways.adding(route))
        return replace(graph, routes=graph.routes.adding(route))

    def route_all(self, matrix: ArrayLike) -> Self:
        """Send jobs between all stations by a matrix of probabilities.

        Parameters
        ----------
        matrix
            Probability of going from each station (row) to each (column), in the order in which the
            stations were added. A row sums to at most 1; the rest leaves the system. Routes with a
            formula are given by `route`, and have 0 in the matrix. In a graph with a `reference`,
            all rows may sum to 1.

        Raises
        ------
        GraphError
            For a matrix of another shape, probabilities outside 0 to 1, a row that sums to more
            than 1, stations that nothing leaves, or a route given twice.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> two = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.1))
        >>> two.route_all([[0.0, 0.5], [1.0, 0.0]]).at().solve(arrival_rate=1.0)["cpu.visits"]
        2.0
        """
        closed = EVERY in self.class_ways.references
        names = tuple(self.stations)
        return replace(self, routes=self.routes.with_matrix(names, matrix, closed=closed))

    def arrive(
        self,
        station: str,
        rate: Expression = "arrival_rate",
        scv: Expression | None = None,
        batch: Expression | Mapping[Any, Expression] | None = None,
        course: "Course | None" = None,
    ) -> Self:
        """Let jobs arrive at a station with a rate [1/s]; may be called for several.

        Parameters
        ----------
        station, rate
            The station where jobs enter, and their rate [1/s]; by default the parameter
            ``arrival_rate``.
        scv
            Squared coefficient of variation of the interarrival times, 0 or more; 1 for Poisson
            arrivals, the default if no station gives one. If one does, variability is propagated
            through the whole network (`headway.queueing.variability`).
        batch
            How many jobs arrive together, 1 or more: a whole number; ``{"mean": 4}`` for geometric
            sizes; or probabilities by size, ``{1: 0.5, 2: 0.5}``. The rate remains that of jobs.
        course
            Rates that follow time, or a trace (`headway.queueing.flows.courses`), in place of rate
            and scv: used by simulations, and by solutions over time.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).arrive("cpu", 8.0, scv=4.0)
        >>> solution = one.at().solve()
        >>> round(solution.response_time, 2), round(solution["cpu.departure_scv"], 2)
        (1.03, 2.08)
        >>> round(ModelGraph("one").station("cpu", MM1(0.1)).arrive("cpu", 8.0, batch=3)
        ...     .at().solve().response_time, 3)
        1.0
        """
        if station not in self.stations:
            msg = f"arrivals: there is no station {station!r}{nearest(station, self.stations)}"
            raise GraphError(msg)
        if course is not None:
            _check_courses(next(iter(self.classes), ""), {station: course})
            rate, scv = course.mean, getattr(course, "scv", scv)
        graph, read = self._read(rate, f"arrivals at {station}")
        graph = replace(graph, arrivals=adding(graph.arrivals, station, read))
        if course is not None:
            courses = adding(graph.arrival_courses, station, course)
            graph = replace(graph, arrival_courses=courses)
        if scv is not None:
            graph, spread = graph._read(scv, f"scv of arrivals at {station}")
            graph = replace(graph, arrival_scvs=adding(graph.arrival_scvs, station, spread))
        if batch is None:
            return graph
        given = batch if isinstance(batch, Mapping) else {"": batch}
        graph, numbers = graph._read_all(given, f"batch of arrivals at {station}")
        from headway.models.structure.parts.batches import Batch

        together = Batch(tuple((str(key), read) for key, read in numbers.items()))
        return replace(graph, arrival_batches=adding(graph.arrival_batches, station, together))

    def impatient(
        self,
        numbers: Mapping[str, Expression],
        job_class: str = "",
        *,
        server_notices: bool = False,
    ) -> Self:
        """Let the clients of a class give up and retry.

        Parameters
        ----------
        numbers
            Numbers by the names of the fields of `headway.queueing.flows.clients.Clients`:
            ``patience``, ``timeout``, ``retries``, ``backoff`` and others.
        job_class
            The class of the clients; "" in a graph without classes.
        server_notices
            Whether servers stop work for a client that has gone; otherwise they finish it in vain.

        Raises
        ------
        GraphError
            For a class that does not exist or is closed, clients given twice, or a number that
            clients do not have.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MMm
        >>> graph = ModelGraph("desk").station("desk", MMm(60.0, 10))
        >>> graph = graph.impatient({"patience": 120.0}).at(arrival_rate=0.2)
        >>> round(graph.solve()["abandonment"], 4)
        0.1957
        """
        if job_class not in (self.classes or [""]):
            msg = f"clients: there is no class {job_class!r}{nearest(job_class, self.classes)}"
            raise GraphError(msg)
        if "population" in self.classes.get(job_class, ()):
            msg = f"class {job_class}: clients of a closed class wait; give it an arrival_rate"
            raise GraphError(msg)
        who = f"class {job_class}" if job_class else "clients"
        graph, read = self._read_all(numbers, who)
        from headway.models.structure.parts.clients import ClientTerms

        terms = ClientTerms(tuple(read.items()), server_notices)
        if not terms.names:
            terms.evaluate({})
        known = graph.clients.get(job_class, terms)
        if known != terms:
            msg = f"{who}: their patience differs by station; give each a class of its own"
            raise GraphError(msg)
        return replace(graph, clients={**graph.clients, job_class: terms})

    def autoscale(
        self,
        scales: str,
        numbers: Mapping[str, Expression],
        metric: str = "utilisation",
        asks_for: str = "",
    ) -> Self:
        """Let an autoscaler set a parameter over a day.

        Parameters
        ----------
        scales
            The parameter that is the number of replicas; its value is that at the start of a day.
        numbers
            Numbers by the names in `headway.queueing.transient.autoscaler.Autoscaler`: ``target``
            and ``maximum``, and others such as ``start_delay``, whose defaults are those of
            Kubernetes.
        metric
            The metric per replica that is observed: ``utilisation``, ``queue`` or ``rate``.
        asks_for
            Number of replicas to ask for, in place of Kubernetes' rule: a formula of ``seen`` (the
            metric), ``replicas``, ``ready`` and parameters, rounded up.

        Raises
        ------
        GraphError, InvalidParameter
            For a parameter that does not exist, and for numbers that an autoscaler does not have or
            that are outside their domain.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.models.over.days import Day
        >>> from headway.queueing import MMm
        >>> pool = ModelGraph("pool").declare("servers").station("cpu", MMm(0.01, "servers"))
        >>> pool = pool.autoscale("servers", {"target": 0.7, "maximum": 9}).at(servers=2)
        >>> found = pool.over(Day((0.0, 600.0, 1200.0), (100.0, 400.0)), every=600)
        >>> found["replicas"].round(2).tolist()
        [2.0, 6.93]
        """
        if scales not in self.parameters:
            msg = f"autoscaler: {scales!r} is not a parameter{nearest(scales, self.parameters)}"
            raise GraphError(msg)
        graph, read = self._read_all(numbers, "autoscaler")
        from headway.models.structure.parts.autoscaler import SEEN, AutoscalerTerms

        rule = formula(asks_for) if asks_for else None
        terms = AutoscalerTerms(scales, metric, tuple(read.items()), rule)
        own = set() if rule is None else rule.names - {*SEEN, *self.parameters}
        for name in sorted(own):
            msg = (
                f"autoscaler: {name!r} is not a parameter{nearest(name, (*SEEN, *self.parameters))}"
            )
            raise GraphError(msg)
        if not terms.names:
            terms.evaluate({})
        return replace(graph, autoscaler=terms)


def _check_courses(name: str, courses: "Mapping[str, Course]") -> None:
    """Refuse arrivals that follow time together with classes, whose arrivals have rates."""
    if name and courses:
        msg = (
            f"class {name}: arrivals at {next(iter(courses))} follow time, which headway plays of "
            "jobs without classes; delete the class, or trace and rates"
        )
        raise GraphError(msg)


def _of_any(name: str, station: Station, scvs: dict[str, Any]) -> dict[str, Any]:
    """Refuse scvs by class for a kind whose service times have no scv to set."""
    if scvs and "scv" not in [f.name for f in fields(station)]:  # type: ignore[arg-type]
        msg = f"{name}: a {type(station).__name__} has no scv; use MG1, MGm or GGm"
        raise GraphError(msg)
    return scvs


def _chosen(route: str, station: Station) -> QueueChoice:
    from headway.queueing.stations.choosing import queue_choice

    return queue_choice(route, type(station))
