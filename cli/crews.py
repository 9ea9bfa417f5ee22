"""Options for sharing work: processes of this machine, or a cluster."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from headway.cli.numbers import Whole
from headway.cli.options import twins

if TYPE_CHECKING:
    from headway.models.running.crews import Crew

Function = TypeVar("Function", bound=Callable[..., Any])
CrewContext: TypeAlias = "AbstractContextManager[Crew | None]"
"""Context manager of a command's work: yields the workers, or None if no option names any."""

_WORKERS, _OTHER = twins(
    "--workers N, --cluster URL", "Processes; a dask scheduler, with --wait TIME."
)


def crew_options(function: Function) -> Function:
    """Add ``--workers``, ``--cluster`` and ``--wait``, passed to the function as `hands`."""

    @wraps(function)
    def _given(
        *arguments: Any, workers: int | None, cluster: str | None, wait: str | None, **named: Any
    ) -> Any:
        return function(*arguments, hands=crew_for(workers, cluster, wait), **named)

    count = click.option(
        "--workers",
        cls=_WORKERS,
        type=Whole(),
        metavar="N",
        help="Number of processes on this machine.",
    )
    address = click.option(
        "--cluster", cls=_OTHER, metavar="URL", help="Address of a dask scheduler."
    )
    patience = click.option(
        "--wait", cls=_OTHER, metavar="TIME", help="Wait for workers of the cluster (60s)."
    )
    return count(address(patience(_given)))  # type: ignore[return-value]


def crew_for(workers: int | None, cluster: str | None, wait: str | None = None) -> CrewContext:
    """Choose the workers; nothing is started or joined before there is work.

    Parameters
    ----------
    workers, cluster, wait
        Values of the options.

    Raises
    ------
    InvalidParameter
        If two kinds of workers are given, fewer than one worker, or a time to wait for no cluster.

    Examples
    --------
    >>> with crew_for(None, None) as crew:
    ...     crew is None
    True
    >>> crew_for(2, "tcp://10.0.0.1:8786")
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: give --workers or --cluster, not both
    """
    from headway.errors import InvalidParameter

    if wait is not None and cluster is None:
        raise InvalidParameter("--wait is for the workers of a cluster; give --cluster URL")
    if workers is not None and cluster is not None:
        raise InvalidParameter("give --workers or --cluster, not both")
    if workers is not None:
        from headway.models.running import pool

        return pool.workers(workers)
    if cluster is not None:
        return _joined(cluster, wait)
    return nullcontext()


@contextmanager
def _joined(address: str, wait: str | None) -> "Iterator[Crew]":
    """Join a cluster when its work begins, after all other options have been checked."""
    from headway.models.language.units import quantity, unit
    from headway.models.running import cluster

    seconds = cluster.WITHOUT if wait is None else quantity(wait, unit("s"), "--wait")
    with cluster.cluster(address, seconds, partial(click.echo, err=True)) as crew:
        yield crew


def names_workers(hands: CrewContext) -> bool:
    """Whether an option names workers.

    Examples
    --------
    >>> names_workers(crew_for(None, None)), names_workers(crew_for(2, None))
    (False, True)
    """
    return not isinstance(hands, nullcontext)
