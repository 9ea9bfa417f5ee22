"""Processes of this machine.

They are spawned, never forked: a fork copies locks that other threads hold (numpy's, a notebook's),
and hangs. A spawned process would normally import the script that started it, and run it again if
it lacks ``if __name__ == "__main__"``; these do not, so that every script works unchanged, and
whatever a task needs must come from a module.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import FrameType, ModuleType
from typing import Any

from headway.errors import InvalidParameter
from headway.lazy import THREADS
from headway.models.running.crews import Crew

MOST = 61 if sys.platform == "win32" else 1024
"""Most processes; Windows cannot wait for more."""

_ENDING = {
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
}


def workers(count: int) -> Crew:
    """Make a crew of processes of this machine.

    Parameters
    ----------
    count
        Number of processes, at least 1. Each uses one processor.

    Raises
    ------
    InvalidParameter
        If it is below 1 or above 1024.

    Examples
    --------
    >>> with workers(2) as crew:
    ...     crew.size, crew.name
    (2, '2 processes')
    >>> workers(0)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: 0 workers: give 1 to 1024, or none for this process only
    """
    if not 1 <= count <= MOST:
        msg = f"{count} workers: give 1 to {MOST}, or none for this process only"
        raise InvalidParameter(msg)
    return ProcessPool(count)


def every_core() -> Crew:
    """Make a crew with one process for each processor of this machine.

    Examples
    --------
    >>> every_core().size >= 1
    True
    """
    return workers(min(os.cpu_count() or 1, MOST))


class ProcessPool(Crew):
    """Processes that start when there is work."""

    def __init__(self, count: int) -> None:
        self._context = _Spawning()
        pool = ProcessPoolExecutor(count, mp_context=self._context)
        super().__init__(pool, count, f"{count} process{'es' if count > 1 else ''}")

    def submit(self, function: Callable[..., Any], *arguments: object) -> "Future[Any]":
        """Start a task; what ends this process waits until the pool and its workers have started.

        A pool that is interrupted while its own thread starts cannot be shut down.
        """
        with _undisturbed():
            return super().submit(function, *arguments)

    def renew(self, error: BaseException) -> None:
        """Replace a pool after a worker has died."""
        del error
        self._afresh()

    def look(self) -> None:
        """Break the pool if a worker has died and the pool did not notice.

        Python 3.11 loses futures submitted at the moment when a worker dies.
        """
        if any(process.exitcode is not None for process in self._context.started):
            raise BrokenProcessPool("a worker ended during a task")

    def drop(self, futures: "Iterable[Future[Any]]") -> None:
        """End the processes if they do work that is no longer needed; the next task starts others.

        A pool whose futures were cancelled does not survive the end of a process (Python 3.11).
        """
        if not all(future.done() for future in futures):
            self._afresh()

    def _afresh(self) -> None:
        self.stop()
        self._context = _Spawning()
        self.executor = ProcessPoolExecutor(self.size, mp_context=self._context)

    def stop(self) -> None:
        """End the processes, whatever they are doing, and wait until they have gone."""
        for process in self._context.started:
            if process.pid is not None:
                process.terminate()
        self.executor.shutdown(wait=True)


class _Worker(SpawnProcess):
    """A process that ignores Ctrl-C and ends with its parent."""

    def start(self) -> None:
        """Start it without the caller's script, ignoring Ctrl-C from the start."""
        with _no_script(), _undisturbed(), _deaf():
            super().start()

    def run(self) -> None:
        """Prepare this process, then work."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.environ.update(dict.fromkeys(THREADS, "1"))  # read when numpy is first imported
        threading.Thread(target=_follow, daemon=True).start()
        super().run()


class _Spawning(SpawnContext):
    """Starts such processes and keeps a list of them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Worker] = []

    def Process(  # type: ignore[override]  # noqa: N802 - the name that the pool calls
        self, target: Callable[..., object], args: tuple[Any, ...]
    ) -> _Worker:
        """Make a process; the pool starts it."""
        process = _Worker(target=target, args=args)
        self.started.append(process)
        return process


def _follow() -> None:
    """End this process when its parent has ended, for whatever reason."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _no_script() -> Iterator[None]:
    """Replace the main script, which new processes would import, with an empty module."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off what ends this process until what it starts can be ended in its turn.

    A signal that another thread takes is handled in the main one, whatever that one blocks.
    """
    came: list[tuple[int, FrameType | None]] = []
    main = threading.current_thread() is threading.main_thread()
    own = {number: signal.getsignal(number) for number in _ENDING if main}
    handlers = {number: handler for number, handler in own.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: came.append((number, frame)))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in came[:1]:
            handlers[number](number, frame)


@contextmanager
def _deaf() -> Iterator[None]:
    """Block Ctrl-C in this thread and in the processes that it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
