"""Save sweeps in a file: the work done, so that it can be resumed, and the results so far."""

import hashlib
import io
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import headway
from headway.errors import InvalidParameter, MeasurementError
from headway.lazy import needed
from headway.models.files.whole import write_whole
from headway.models.sweeping.chunks import Chunk, Subtree
from headway.models.sweeping.kernel import Job
from headway.models.sweeping.reductions.reduction import State
from headway.models.sweeping.spaces import Space
from headway.models.sweeping.sweep import SweepEffort
from headway.records import dataclass

Fingerprint = Mapping[str, Any]
"""JSON description of a sweep: a sweep can resume another one with the same description."""

PARQUET, NPZ = ".parquet", ".npz"

_STATE = b"headway"


@dataclass(frozen=True)
class Saved:
    """The finished part of a sweep."""

    of: Fingerprint
    subtrees: tuple[Subtree, ...]
    effort: SweepEffort


def fingerprint(job: Job, space: Space) -> dict[str, Any]:
    """Describe a sweep.

    The description includes the model's structure and values, and the version of headway.
    """
    parameters = {name: repr(each) for name, each in sorted(job.model.parameters.items())}
    model = repr((job.model.graph.content, parameters, sorted(job.model.correlations.items())))
    return {
        "headway": headway.__version__,
        "model": hashlib.sha256(model.encode()).hexdigest(),
        "method": job.method,
        "space": space.describe(),
        "reductions": [reduction.text for reduction in job.reductions],
        "block": job.block,
    }


def save(path: Path, saved: Saved, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the finished part, completely or not at all.

    Parameters
    ----------
    path
        ``.parquet``, which pyarrow writes, or ``.npz``.
    saved
        The finished part.
    rows
        The results so far.

    Raises
    ------
    InvalidParameter
        For another kind of file.
    PackageError
        For ``.parquet`` without pyarrow.
    OutputError
        If the file cannot be written; an existing file then stays as it was.
    """
    check_path(path)
    state = _to_bytes(saved, {} if path.suffix == PARQUET else _columns(rows))
    write_whole(path, _parquet(rows, state) if path.suffix == PARQUET else state)


def check_path(path: Path) -> None:
    """Refuse a file that cannot hold a sweep."""
    if path.suffix not in (PARQUET, NPZ):
        msg = f"{path}: the name of a saved sweep must end in .npz or .parquet"
        raise InvalidParameter(msg)
    if path.suffix == PARQUET:
        needed(f"{path}: a sweep as .parquet (.npz needs no package)", "pyarrow")


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _to_bytes(saved: Saved, columns: Mapping[str, Any]) -> bytes:
    """Named arrays, with the description and the effort as JSON."""
    chunks = [asdict(subtree.chunk) for subtree in saved.subtrees]
    head = {"of": saved.of, "effort": asdict(saved.effort), "subtrees": chunks}
    arrays: dict[str, Any] = {"headway": np.array(json.dumps(head))}
    arrays |= {name: _array(values) for name, values in columns.items()}
    for place, subtree in enumerate(saved.subtrees):
        for number, state in enumerate(subtree.states):
            arrays |= {f"state/{place}/{number}/{name}": a for name, a in state.items()}
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _array(values: Sequence[Any]) -> Any:
    """Numbers as numbers, everything else as text."""
    if all(isinstance(each, (int, float)) or each is None for each in values):
        return np.array([np.nan if each is None else each for each in values], float)
    return np.array(["" if each is None else str(each) for each in values])


def _parquet(rows: Sequence[Mapping[str, Any]], state: bytes) -> bytes:
    writer, arrays = (import_module(name) for name in ("pyarrow.parquet", "pyarrow"))
    table = arrays.table({name: _array(each) for name, each in _columns(rows).items()})
    table = table.replace_schema_metadata({_STATE: b64encode(state)})
    stream = io.BytesIO()
    writer.write_table(table, stream)
    return stream.getvalue()


def load(path: Path, of: Fingerprint) -> Saved:
    """Read the finished part of a sweep.

    Raises
    ------
    MeasurementError
        If it cannot be read, or is not a sweep.
    InvalidParameter
        If it has another model, space, version of headway or reductions.
    """
    check_path(path)
    try:
        saved = _read(path)
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror or error}); leave out --resume to start"
        raise MeasurementError(msg) from None
    except Exception:
        msg = f"{path}: does not contain a sweep that headway wrote"
        raise MeasurementError(msg) from None
    for name, wanted in json.loads(json.dumps(of)).items():
        if saved.of.get(name) != wanted:
            known = f" ({saved.of.get(name)}, now {wanted})" if name == "headway" else ""
            msg = (
                f"{path}: contains a sweep with another {name}{known}; start again without --resume"
            )
            raise InvalidParameter(msg)
    return saved


def _read(path: Path) -> Saved:
    if path.suffix == PARQUET:
        metadata = import_module("pyarrow.parquet").read_schema(path).metadata
        stream = io.BytesIO(b64decode(metadata[_STATE]))
    else:
        stream = io.BytesIO(path.read_bytes())
    with np.load(stream, allow_pickle=False) as arrays:
        head = json.loads(str(arrays["headway"]))
        states = {name: arrays[name] for name in arrays.files if name.startswith("state/")}
    subtrees = tuple(
        Subtree(Chunk(**chunk), _states(states, place))
        for place, chunk in enumerate(head["subtrees"])
    )
    return Saved(head["of"], subtrees, SweepEffort(**head["effort"]))


def _states(arrays: Mapping[str, Any], place: int) -> tuple[State, ...]:
    """The states of one subtree, by the indices of their reductions."""
    states: dict[int, dict[str, Any]] = {}
    for name, array in arrays.items():
        _, own, number, part = name.split("/", 3)
        if int(own) == place:
            states.setdefault(int(number), {})[part] = array
    return tuple(states[number] for number in sorted(states))
