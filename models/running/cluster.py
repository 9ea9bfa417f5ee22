"""A cluster of dask: workers on any number of machines, behind one scheduler."""

import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as TooLong
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, TypeAlias, TypeVar

from headway import __version__
from headway.errors import WorkerError
from headway.kinds import check_domain
from headway.lazy import needed
from headway.models.running.crews import Crew, in_one_line
from headway.numerals import digits

Client: TypeAlias = Any
"""A client or future of distributed, whose methods are partly untyped."""
Result = TypeVar("Result")

LONGEST = 8.0
"""Time within which a scheduler must answer and have a worker [s]."""
WITHOUT = 60.0
"""Time to wait for another worker when all have left, unless the caller says [s]."""
NOTICED = 2.0
"""Time without workers after which it is said that headway waits [s]."""
ANSWERED = 1.0
"""Time in which a scheduler usually says how many workers it has [s]."""
CLOSING = 1.0
"""Time allowed to disconnect from a scheduler [s]."""
_VERSION = (
    "__import__('importlib.util').util.find_spec('headway') and __import__('headway').__version__"
)
"""The version check sent to a worker; it works whether or not headway is installed there."""


def cluster(
    address: str, wait: float = WITHOUT, tell: Callable[[str], object] = warnings.warn
) -> Crew:
    """Make a crew of all the workers of a dask scheduler.

    Parameters
    ----------
    address
        Address of the scheduler, such as ``tcp://10.0.0.1:8786``.
    wait
        Time to wait for another worker when all have left, and for a scheduler that no longer
        answers [s], 0 or more.
    tell
        Called with a line when this wait begins.

    Raises
    ------
    InvalidParameter
        If the time to wait is negative.
    WorkerError
        If no scheduler answers within 8 s, it has no worker, or a worker lacks this version of
        headway.
    PackageError
        If distributed is not installed: ``pip install 'headway[cluster]'``.
    """
    check_domain("wait", wait, lambda time: time >= 0, "0 or more")
    [distributed] = needed(f"cluster {address}", "distributed")
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions of other packages
            client = _within(LONGEST, partial(_joined, distributed, address), address)
        return Cluster(client, address, stack.pop_all(), wait, tell)


def _joined(distributed: Any, address: str) -> Client:
    """Connect, wait for a worker, and compare versions."""
    end = time.monotonic() + LONGEST
    client = _connected(distributed, address)
    try:
        _wait_for_a_worker(client, address, end)
        _check_versions(address, client.run(eval, _VERSION))
    except BaseException:
        client.close(timeout=CLOSING)
        raise
    return client


def _connected(distributed: Any, address: str) -> Client:
    try:
        client: Client = distributed.Client(address, timeout=LONGEST, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _nobody(address, in_one_line(error)) from error
    return client


def _nobody(address: str, why: str) -> WorkerError:
    return WorkerError(
        f"cluster {address}: cannot reach a dask scheduler ({why}); give its address, such as "
        "tcp://10.0.0.1:8786"
    )


def _wait_for_a_worker(client: Client, address: str, end: float) -> None:
    try:
        client.wait_for_workers(1, timeout=max(0.1, end - time.monotonic() - 1.0))
    except TimeoutError as error:
        msg = f"cluster {address}: has no workers; start some: dask worker {address}"
        raise WorkerError(msg) from error


def _check_versions(address: str, versions: Mapping[str, str | None]) -> None:
    """Refuse workers with another version of headway."""
    for worker, version in versions.items():
        if version != __version__:
            installed = f"headway {version}" if version else "no headway"
            msg = (
                f"cluster {address}: worker {worker} has {installed}, this process has headway "
                f"{__version__}; install the same on all machines"
            )
            raise WorkerError(msg)


class Cluster(Crew):
    """The workers of a scheduler, while it is in use."""

    def __init__(
        self,
        client: Client,
        address: str,
        quiet: ExitStack,
        wait: float = WITHOUT,
        tell: Callable[[str], object] = warnings.warn,
    ) -> None:
        self._client = client
        self._last_contact = time.monotonic()
        self._quiet = quiet
        self._wait, self._tell, self._told = wait, tell, False
        self._asked: Future[int] | None = None
        size = max(1, sum(client.nthreads().values()))
        super().__init__(client.get_executor(pure=False), size, f"cluster {address}")

    def explain(self, error: Exception) -> Exception:
        """Translate dask's errors: a task that kills its workers, a scheduler that has gone."""
        if type(error).__name__ == "KilledWorker":
            return WorkerError(f"{self.name}: a task was started on several workers, and each died")
        if isinstance(error, CancelledError):
            return WorkerError(f"{self.name}: lost the scheduler")
        return error

    def look(self) -> None:
        """Wait for other workers when all have left, for a limited time, and say so."""
        if self._has_workers():
            self._last_contact, self._told = time.monotonic(), False
            return
        alone = time.monotonic() - self._last_contact
        if alone > self._wait:
            msg = f"{self.name}: has had no workers for {digits(self._wait)} s"
            raise WorkerError(msg)
        if alone > NOTICED and not self._told:
            self._told = True
            others = f"waiting up to {digits(self._wait)} s for another"
            self._tell(f"{self.name}: all workers have left; {others}")

    def _has_workers(self) -> bool:
        """Whether the scheduler says that it has workers; one that is gone may never answer."""
        if self._asked is None:
            self._asked = _asked(lambda: len(self._client.nthreads()))
        try:
            count = self._asked.result(timeout=ANSWERED)
        except TooLong:
            return False
        except Exception:  # the connection was lost
            count = 0
        self._asked = None
        return count > 0

    def stop(self) -> None:
        """Cancel pending work and disconnect from the scheduler; its workers stay."""
        with self._quiet, suppress(Exception):
            self.executor.shutdown(wait=False)
            self._client.close(timeout=CLOSING)


def _within(seconds: float, call: Callable[[], Result], address: str) -> Result:
    """Call what may hang in a separate thread: dask waits indefinitely for a port to answer."""
    try:
        return _asked(call).result(timeout=seconds)
    except TooLong as error:
        raise _nobody(address, f"no answer within {digits(seconds)} s") from error


def _asked(call: Callable[[], Result]) -> "Future[Result]":
    answer: Future[Result] = Future()
    threading.Thread(target=_answer, args=(answer, call), daemon=True).start()
    return answer


def _answer(answer: "Future[Result]", call: Callable[[], Result]) -> None:
    try:
        answer.set_result(call())
    except BaseException as error:
        answer.set_exception(error)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep dask's own messages off standard error; headway raises its own errors."""
    levels = {logger: logger.level for logger in _speakers()}
    try:
        for logger in levels:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _speakers() -> list[logging.Logger]:
    names = [name for name in logging.root.manager.loggerDict if _is_of_dask(name)]
    return [logging.getLogger(name) for name in names]


def _is_of_dask(name: str) -> bool:
    return name.partition(".")[0] in ("distributed", "tornado")
