"""The shape of layered services in a model file: processors, tasks, entries and activities."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headway.models.files.building.shapes import (
    Fault,
    FieldsTable,
    Json,
    Keys,
    KeyTable,
    Plain,
    Scalar,
    Schema,
    TableKey,
    TableOf,
    Texts,
    TextSchema,
    Truth,
)
from headway.records import dataclass

REPLY = "reply"
"""The reply in a flow."""


class ProcessorEntry(NamedTuple):
    """``[processors] NAME``: a device that runs the steps of tasks."""

    servers: Scalar = 1
    discipline: str = "ps"
    speed: Scalar = 1
    replicas: Scalar = 1


class StepEntry(NamedTuple):
    """``activities.NAME`` or ``second_phase`` of an entry: work, with calls in between."""

    demand: Scalar = 0
    scv: Scalar = 1
    think_time: Scalar = 0
    calls: Mapping[str, Scalar] = {}
    sends: Mapping[str, Scalar] = {}
    fixed: bool = False


class ServiceEntry(NamedTuple):
    """``[tasks.NAME.entries] NAME``: a service, by one step or by a flow of activities."""

    demand: Scalar = 0
    scv: Scalar = 1
    think_time: Scalar = 0
    calls: Mapping[str, Scalar] = {}
    sends: Mapping[str, Scalar] = {}
    fixed: bool = False
    forwards: Mapping[str, Scalar] = {}
    arrival_rate: Scalar = 0
    priority: int = 1
    second_phase: StepEntry | None = None
    activities: Mapping[str, StepEntry] = {}
    flow: Any = ()
    meets: Sequence[str] = ()


class TaskEntry(NamedTuple):
    """``[tasks] NAME``: threads that serve entries, or clients."""

    entries: Mapping[str, ServiceEntry]
    processor: str = ""
    threads: Scalar = 1
    population: Scalar | None = None
    think_time: Scalar = 0
    discipline: str = "fcfs"
    priority: int = 1
    replicas: Scalar = 1
    fan_out: Mapping[str, Scalar] = {}


_TEXT, _PLAIN = TextSchema(), Plain()


@dataclass(frozen=True)
class _Rank(Schema):
    """A whole number."""

    def __call__(self, value: Any, keys: Keys) -> int:
        """Read it."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise Fault("must be a whole number", keys)
        return value

    def described(self) -> Json:
        """Say so."""
        return {"type": "integer"}


@dataclass(frozen=True)
class _FlowParts(Schema):
    """Parts in series; the builder reads what they are."""

    def __call__(self, value: Any, keys: Keys) -> Any:
        """Read a list."""
        if not isinstance(value, list) or not value:
            raise Fault('must be a list of parts, such as ["parse", "reply", "log"]', keys)
        return value

    def described(self) -> Json:
        """Say that it is a list."""
        return {"type": "array", "minItems": 1}


_STEP: KeyTable = {
    "demand": TableKey(_PLAIN, "Mean time at a processor of speed 1, for a request [s]."),
    "scv": TableKey(_PLAIN, "Squared coefficient of variation of each slice between calls."),
    "think_time": TableKey(_PLAIN, "A delay first, for which the thread is held [s]."),
    "calls": TableKey(
        TableOf(_PLAIN), "Mean calls whose reply the thread waits for, by ENTRY or TASK.ENTRY."
    ),
    "sends": TableKey(TableOf(_PLAIN), "Mean messages that nobody waits for, by entry."),
    "fixed": TableKey(Truth(), "Whether numbers of calls are whole and do not vary."),
}
_SERVICE: KeyTable = {
    **_STEP,
    "forwards": TableKey(
        TableOf(_PLAIN), "Probability that another entry answers in its place, by entry."
    ),
    "arrival_rate": TableKey(_PLAIN, "Requests from outside [1/s]."),
    "priority": TableKey(_Rank(), "In the queue for a thread, where it goes by priority."),
    "second_phase": TableKey(
        FieldsTable(StepEntry, _STEP, short="demand"), "What the thread does after its reply."
    ),
    "activities": TableKey(
        TableOf(FieldsTable(StepEntry, _STEP, short="demand")), "Steps of a flow, by name."
    ),
    "flow": TableKey(
        _FlowParts(),
        "Activities in series; 'reply'; tables with together, choice, loop or reply. In the order "
        "of the activities by default.",
    ),
    "meets": TableKey(
        Texts("entries"),
        "The other entries of the task, which has one thread: begins when it has done one request "
        "for each, and answers those that still wait.",
    ),
}
TASK: KeyTable = {
    "entries": TableKey(TableOf(FieldsTable(ServiceEntry, _SERVICE)), "Services by name."),
    "processor": TableKey(_TEXT, "The processor that runs its steps."),
    "threads": TableKey(_PLAIN, "Requests it serves at once; 'unlimited' or inf for no limit."),
    "population": TableKey(_PLAIN, "The number of clients; they serve nobody."),
    "think_time": TableKey(_PLAIN, "From an answer to the next request, of clients [s]."),
    "discipline": TableKey(_TEXT, "In which order requests get a thread; fcfs by default."),
    "priority": TableKey(_Rank(), "At processors that serve by priority."),
    "replicas": TableKey(_PLAIN, "Copies, each with its own threads or clients, and queue."),
    "fan_out": TableKey(
        TableOf(_PLAIN),
        "By task: copies that each copy calls, with the mean number of calls to each. Without it "
        "each call chooses any copy, at random.",
    ),
}
PROCESSOR: KeyTable = {
    "servers": TableKey(_PLAIN, "How many there are; 'unlimited' or inf for a delay."),
    "discipline": TableKey(_TEXT, "Who is served; ps by default: all share the servers."),
    "speed": TableKey(_PLAIN, "By which demands are divided; 1 by default."),
    "replicas": TableKey(_PLAIN, "Copies, each with its own servers."),
}
