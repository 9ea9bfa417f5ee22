"""Open, closed and mixed networks of several classes."""

from collections.abc import Sequence

from headway.queueing.methods.solve import solve
from headway.queueing.network.names import Method
from headway.queueing.network.network import JobClass, Saturation, SharedStation, read_network
from headway.queueing.network.overload import find_overload, refuse_overload
from headway.queueing.network.result import Result
from headway.queueing.network.routing import Routing


def solve_multiclass(
    stations: Sequence[SharedStation],
    classes: Sequence[JobClass],
    method: str = Method.AUTO,
    saturation: Saturation = Saturation.REFUSE,
    ways: Routing | None = None,
) -> Result:
    """Solve a network of several classes, each of them open or closed.

    Open classes take their share of every server first, and closed ones circulate in the rest:
    exact for product-form networks (BCMP), with single servers and with pools.

    Parameters
    ----------
    stations
        Stations with service times and visits by class.
    classes
        Classes, in the same order.
    method
        ``exact`` walks the lattice of populations. ``recal`` (whose work depends on the number of
        jobs and stations, not of classes) and ``quadrature`` (few stations) are exact too, for
        single servers and delays; pools are convolved. ``schweitzer`` and ``linearizer`` are
        approximate. ``auto`` takes the exact one with the shortest estimated time, unless all need
        more than 1 GB or much time. ``chain`` goes through all states, and solves small networks
        without a product form.
    saturation
        ``refuse`` raises if open classes saturate a station; ``mark`` solves all other points, and
        marks saturated ones in `saturated`. At a saturated point the classes that visit a full
        station have infinite response times there; closed ones among them come to rest (throughput
        0), as they are served ever more slowly beside an endless queue. All others are solved as if
        everything that open classes offer reached the other stations.

    ways
        Routes of jobs between stations, if known: small closed networks without a product form are
        then solved exactly, state by state.

    Returns
    -------
    Result over the broadcast shape of all arrays.

    Raises
    ------
    Saturated
        With ``refuse``, for open classes that some station cannot serve, with its name and
        capacity.
    GraphError, InvalidParameter
        For an invalid network, or a lattice too large for ``exact``.

    Examples
    --------
    >>> cpu = SharedStation("cpu", service_times=(0.1, 0.2), visits=(1, 1))
    >>> web = JobClass("web", arrival_rate=5.0)
    >>> batch = JobClass("batch", population=1)
    >>> solution = solve_multiclass([cpu], [web, batch])
    >>> solution.throughput.round(12).tolist(), solution.utilisation[0].round(12).tolist()
    ([5.0, 2.5], [0.5, 0.5])

    References
    ----------
    Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975; Lazowska et al., *Quantitative
    System Performance*, 1984, chapter 7.
    """
    network = read_network(stations, classes, ways)
    if Saturation(saturation) is Saturation.REFUSE:
        refuse_overload(find_overload(network))
    return solve(network, method)
