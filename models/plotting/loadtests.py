"""Load tests drawn: response time and percentiles over the load."""

from matplotlib.figure import Figure

from headway.models.analysis.audit import Audit
from headway.models.reading.loadtest import LoadTest


def loadtest_figure(found: LoadTest) -> Figure:
    """Draw response time, and percentiles where there are some, over throughput."""
    from headway.errors import MeasurementError

    both = [
        (point.throughput, 1e3 * point.response_time)
        for point in found.points
        if point.throughput is not None and point.response_time is not None
    ]
    if not both:
        msg = f"{found.source}: no point has both a throughput and a response time to draw"
        raise MeasurementError(msg)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*both, strict=True), "o-")
    axes.set_xlabel("throughput [op/s]")
    axes.set_ylabel("response time [ms]")
    axes.set_title(found.source)
    return figure


def audit_figure(found: Audit) -> Figure:
    """Draw the test that was looked at."""
    return loadtest_figure(found.test)
