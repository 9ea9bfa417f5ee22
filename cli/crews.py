"""Options of what many workers can share: processes of this machine, or a cluster."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from headway.cli.numbers import Whole
from headway.cli.options import twins

if TYPE_CHECKING:
    from headway.models.running.crews import Crew

Function = TypeVar("Function", bound=Callable[..., Any])
Hands: TypeAlias = "AbstractContextManager[Crew | None]"
"""What a command enters for its work: gives workers, or none where nobody says who works."""

_WORKERS, _CLUSTER = twins(
    "--workers N, --cluster URL", "Processes that share the work; a dask scheduler."
)


def crew_options(function: Function) -> Function:
    """Add ``--workers`` and ``--cluster``, given to the function as `hands`."""

    @wraps(function)
    def _given(*arguments: Any, workers: int | None, cluster: str | None, **named: Any) -> Any:
        return function(*arguments, hands=hands_of(workers, cluster), **named)

    count = click.option(
        "--workers", cls=_WORKERS, type=Whole(), metavar="N", help="Processes on this machine."
    )
    address = click.option(
        "--cluster", cls=_CLUSTER, metavar="URL", help="Workers of a dask scheduler."
    )
    return count(address(_given))  # type: ignore[return-value]


def hands_of(workers: int | None, cluster: str | None) -> Hands:
    """Find who works; nothing is started or joined before there is work.

    Parameters
    ----------
    workers, cluster
        What the options were given.

    Raises
    ------
    InvalidParameter
        If both are given, or fewer than one worker.

    Examples
    --------
    >>> with hands_of(None, None) as crew:
    ...     crew is None
    True
    >>> hands_of(2, "tcp://10.0.0.1:8786")
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: give --workers or --cluster, not both
    """
    from headway.errors import InvalidParameter

    if workers is not None and cluster is not None:
        raise InvalidParameter("give --workers or --cluster, not both")
    if workers is not None:
        from headway.models.running import pool

        return pool.workers(workers)
    if cluster is not None:
        return _joined(cluster)
    return nullcontext()


@contextmanager
def _joined(address: str) -> "Iterator[Crew]":
    """Join a cluster when its work begins, after all else that was typed was found right."""
    from headway.models.running.cluster import cluster

    with cluster(address) as crew:
        yield crew


def is_told(hands: Hands) -> bool:
    """Whether it is said who works.

    Examples
    --------
    >>> is_told(hands_of(None, None)), is_told(hands_of(2, None))
    (False, True)
    """
    return not isinstance(hands, nullcontext)
