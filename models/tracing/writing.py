"""Write services as a model file of layers, with a parameter for each number from the traces."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from headway.models.importing.foreign.naming import plain_names
from headway.models.tracing.flows import Always, Block, Geometric, Stage, Times, Ways
from headway.models.tracing.keys import Key
from headway.models.tracing.measured import Measured
from headway.models.tracing.services import Load, Services
from headway.numerals import significant

_SURE = 1.96  # standard errors of a 95% interval
_DIGITS = 6
_METHOD = re.compile(r"^(?:HTTP )?(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|QUERY) /?")
_SLIGHT = 0.05  # correlation below which no line is written
_MOST_TERMS = 30  # of a formula
_TRIFLE = 1e-3  # share of an entry's own time below which a part of it is left out


def to_text(services: Services, name: str) -> str:
    """The text of the services' model file."""
    import tomli_w

    return tomli_w.dumps(_Writing(services).document(name))


def entry_names(services: Services) -> dict[Key, str]:
    """Plain names of entries: service, operation, and root if it matters."""
    long = {}
    for key, entry in services.entries.items():
        words = [entry.service, _METHOD.sub("", entry.operation), _METHOD.sub("", entry.root)]
        long[key] = " ".join(dict.fromkeys(word for word in words if word))
    often = Counter(long.values())
    for key, text in long.items():
        if often[text] > 1:
            entry = services.entries[key]
            long[key] = f"{entry.service} {entry.operation} {entry.root}".strip()
    return _plain(long)


def task_names(services: Services) -> dict[str, str]:
    """Plain names of services, which are tasks in the model."""
    found = dict.fromkeys(each.service for each in services.entries.values())
    return _plain({name: name for name in found})


def share_name(entry: str) -> str:
    """The parameter that is an entry's share of the requests from outside."""
    return f"{entry}_share"


_Named = TypeVar("_Named", bound=Hashable)


def _plain(texts: Mapping[_Named, str]) -> dict[_Named, str]:
    """A name for each text that formulas can use."""
    squeezed = _squeezed(texts)
    plain = plain_names(squeezed)
    return {named: plain[name] for name, named in squeezed.items()}


def _squeezed(texts: Mapping[_Named, str]) -> dict[str, _Named]:
    """Short names, even for texts that differ only in blanks and punctuation."""
    names: dict[str, _Named] = {}
    for named, text in texts.items():
        short = re.sub(r"\W+", "_", text).strip("_").lower()
        names[_free(short or "unnamed", names)] = named
    return names


class _Writing:
    """The tables of a file as they are made."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.names = entry_names(services)
        self.tasks = task_names(services)
        self.keys = list(services.entries)
        self.keys_of: dict[str, list[Key]] = {}
        for key, entry in services.entries.items():
            self.keys_of.setdefault(entry.service, []).append(key)
        self.parameters: dict[str, Any] = {}
        self.correlations: dict[str, float] = {}
        self.explained: dict[str, float] = {}  # sums of squared correlations, by work
        self.by_load: dict[str, tuple[float | str, ...]] = {}

    def document(self, name: str) -> dict[str, Any]:
        """All tables."""
        heaviest = self.services.loads[-1]
        self.rates = self._rates(heaviest.rate)
        tasks = {plain: self._task(service) for service, plain in self.tasks.items()}
        return {
            "name": name,
            "doc": "services, found in traces",
            "parameters": self.parameters,
            "presets": {
                preset: self._preset(number)
                for preset, number in _presets(self.services.loads).items()
            },
            "processors": {
                f"{plain}_host": {"servers": self._servers(service)}
                for service, plain in self.tasks.items()
            },
            "tasks": tasks,
            **({"correlations": self.correlations} if self.correlations else {}),
        }

    def _rates(self, total: float) -> dict[Key, str]:
        """Formulas of the rates from outside; shares are parameters if there are several."""
        self.parameters["arrival_rate"] = {
            "value": f"{_digits(total)} /s",
            "min": "0 /s",
            "doc": "requests from outside",
        }
        keys = [key for key in self.keys if any(key in load.shares for load in self.services.loads)]
        if len(keys) == 1:
            return {keys[0]: "arrival_rate"}
        formulas: dict[Key, str] = {}
        counted = sum(load.traces for load in self.services.loads)
        for key in keys[1:]:
            share = self._share(key)
            error = _SURE * (share * (1 - share) / max(counted, 1)) ** 0.5
            name = share_name(self.names[key])
            self.parameters[name] = {
                "value": _rounded(share),
                "min": 0,
                "max": 1,
                "ci95": [_rounded(max(share - error, 0.0)), _rounded(min(share + error, 1.0))],
                "doc": f"of the requests from outside for {self.names[key]}",
            }
            formulas[key] = f"arrival_rate * {name}"
        others = self._few([share_name(self.names[key]) for key in keys[1:]])
        first = f"arrival_rate * ({' - '.join(['1', *others])})"
        return {keys[0]: first, **formulas}

    def _few(self, names: list[str]) -> list[str]:
        """Parameters with the sum of others: of many, parts of it, as formulas have a length."""
        while len(names) > _MOST_TERMS:
            parts = [names[k : k + _MOST_TERMS] for k in range(0, len(names), _MOST_TERMS)]
            names = []
            for part in parts:
                names.append(_free("others_share", self.parameters))
                self.parameters[names[-1]] = {
                    "formula": " + ".join(part),
                    "doc": "of the requests from outside for some entries",
                }
        return names

    def _share(self, key: Key) -> float:
        loads = [load for load in self.services.loads if load.shares]
        of_traces = sum(load.traces * load.shares.get(key, 0.0) for load in loads)
        return of_traces / sum(load.traces for load in loads)

    def _preset(self, number: int) -> dict[str, Any]:
        load = self.services.loads[number]
        varying = {
            name: values[number]
            for name, values in self.by_load.items()
            if number < len(values) and "nan" not in str(values[number])
        }
        shares = {
            share_name(self.names[key]): _rounded(load.shares.get(key, 0.0))
            for key in self.keys
            if share_name(self.names[key]) in self.parameters
        }
        return {
            "arrival_rate": f"{_digits(load.rate)} /s",
            **shares,
            **varying,
            "doc": f"as in {load.name}",
        }

    def _task(self, service: str) -> dict[str, Any]:
        plain = self.tasks[service]
        pool = self.services.pools.get(service)
        threads: str = "unlimited"
        if pool is not None and pool.seen:
            threads = f"{plain}_threads"
            ends = f", {pool.low} to {pool.high:.0f}" if pool.low < pool.high else ""
            self.parameters[threads] = {
                "value": int(pool.threads),
                "min": 1,
                "doc": f"threads of {service}{ends}",
            }
        return {
            "processor": f"{plain}_host",
            "threads": threads,
            "entries": {
                self.names[key]: self._entry(key, self.services.entries[key])
                for key in self.keys_of[service]
            },
        }

    def _servers(self, service: str) -> str:
        found = self.services.processors.get(service)
        name = f"{self.tasks[service]}_servers"
        measured = self.services.processor_times.get(service)
        if measured is not None and measured.processors is not None:
            doc = f"processors of {service}"
            self.parameters[name] = {"value": measured.processors, "min": 1, "doc": doc}
            return name
        if found is None:
            return "unlimited"
        self.parameters[name] = {
            "value": int(found.threads),
            "min": 1,
            "doc": f"processors of {service}, {found.low} to {found.high:.0f}",
        }
        return name

    def _processor_share(self, service: str) -> str:
        """The parameter of the processor's part of a service's own time; empty if none."""
        measured = self.services.processor_times.get(service)
        if measured is None:
            return ""
        name = f"{self.tasks[service]}_processor_share"
        share, low, high = measured.share
        self.parameters[name] = {
            "value": _rounded(share),
            "min": 0,
            "max": 1,
            "ci95": [_rounded(low), _rounded(high)],
            "doc": f"of {service}'s own time, at its processors",
        }
        return name

    def _worked(self, own: str, part: str) -> dict[str, Any]:
        """An entry's own time, part of which is at the processor, and the rest a delay."""
        if not part:
            return {"demand": own}
        return {"demand": f"{part} * {own}", "think_time": f"(1 - {part}) * {own}"}

    def _entry(self, key: Key, entry: Measured) -> dict[str, Any]:
        name = self.names[key]
        self.part = "" if entry.peer else self._processor_share(entry.service)
        self.parameters[f"{name}_work"] = self._time(
            entry.work, entry.error, f"{entry.service}'s own time for {self._said(entry)}"
        )
        self.by_load[f"{name}_work"] = tuple(map(_ms, entry.by_load))
        if entry.network > _TRIFLE * (entry.work + entry.network):
            self.parameters[f"{name}_network"] = self._time(
                entry.network,
                entry.network_error,
                f"on the way of the calls of {self._said(entry)}",
            )
        own = dict(self._own(key, entry))
        if key in self.rates:
            own["arrival_rate"] = self.rates[key]
        return own

    def _said(self, entry: Measured) -> str:
        return f"{entry.operation} of {entry.root}" if entry.root else entry.operation

    def _time(self, value: float, error: float, doc: str) -> dict[str, Any]:
        low, high = max(value - _SURE * error, 0.0), value + _SURE * error
        table: dict[str, Any] = {"value": _ms(value), "min": "0 ms", "doc": doc}
        return table | ({"ci95": [_ms(low), _ms(high)]} if high > low else {})

    def _own(self, key: Key, entry: Measured) -> Iterator[tuple[str, Any]]:
        """An entry's demand and calls, or its activities and their flow."""
        blocks = entry.doing.blocks
        orphans = self.services.orphans if entry.peer else {}
        if not blocks and not entry.messages:
            yield from self._worked(f"{self.names[key]}_work", self.part).items()
            if orphans:
                yield "calls", {self.names[k]: _rounded(mean) for k, mean in orphans.items()}
            yield "scv", _rounded(entry.doing.last_scv)
            return
        self.activities: dict[str, Any] = {}
        self.left = f"{self.names[key]}_network" in self.parameters
        flow = [part for block in blocks for part in self._block(key, entry, block)]
        if entry.doing.last > _TRIFLE * entry.work or not flow:
            last = self._step(key, entry, entry.doing.last, entry.doing.last_scv, {}, "end")
            flow.append(last)
        flow += [self._sent(k, times) for k, laws in entry.messages.items() for times in laws]
        yield "activities", self.activities
        yield "flow", flow

    def _sent(self, key: Key, times: Times) -> Any:
        """Messages, in a step of their own, as others may be left out or repeated."""
        name = self.names[key]

        def step(count: float) -> str:
            label = _free(f"send_{name}", self.activities)
            self.activities[label] = {"demand": 0, "sends": {name: count}}
            if isinstance(count, int):
                self.activities[label]["fixed"] = True
            return label

        match times:
            case Always(count):
                return step(count)
            case Geometric(mean):
                return step(_rounded(mean))
            case Ways(chances):
                rounded = [_rounded(chance) for chance, _ in chances]
                rounded[-1] = 1.0 - sum(rounded[:-1])
                ways = zip(rounded, chances, strict=True)
                return {"choice": [[share, step(n) if n else []] for share, (_, n) in ways]}

    def _block(self, key: Key, entry: Measured, block: Block) -> Iterator[Any]:
        laws = [
            (stage, times, with_work, _own_numbers(times, all_times, by_load))
            for stage, all_times, with_work, by_load in zip(
                block.stages, block.times, block.with_work, block.by_load, strict=True
            )
            for times in all_times
        ]
        weights = [times.mean for _, times, _, _ in laws]
        whole = sum(weights)
        for (stage, times, with_work, by_load), weight in zip(laws, weights, strict=True):
            if whole and weight:
                known = len(self.parameters)
                yield self._part(key, entry, stage, times, (block.work * weight / whole, block.scv))
                for name in [*islice(reversed(self.parameters), len(self.parameters) - known)]:
                    self._correlate(f"{self.names[key]}_work", name, with_work)
                    self.by_load[name] = by_load

    def _correlate(self, work: str, name: str, value: float) -> None:
        """State the correlation of a number of calls with the work, over the same requests."""
        explained = self.explained.get(work, 0.0) + value**2
        uncertain = all("ci95" in self.parameters[each] for each in (work, name))
        if uncertain and abs(value) > _SLIGHT and explained < 1:
            self.correlations[f"{work}, {name}"] = _rounded(value)
            self.explained[work] = explained

    def _part(
        self, key: Key, entry: Measured, stage: Stage, times: Times, work: tuple[float, float]
    ) -> Any:
        if len(stage.callees) > 1:
            return self._fork(key, entry, stage, times, work)
        callee = self.names[self._callee(stage.callees[0])]
        match times:
            case Always(count):
                return self._step(key, entry, *work, {callee: count}, callee, fixed=True)
            case Geometric(mean, error):
                named = self._count(key, callee, mean, error)
                return self._step(key, entry, *work, {callee: named}, f"{callee}_again")
            case Ways():
                return {"choice": self._ways(key, entry, callee, times, work)}

    def _ways(
        self, key: Key, entry: Measured, callee: str, times: Ways, work: tuple[float, float]
    ) -> list[list[Any]]:
        probabilities = self._chances(key, callee, times)
        ways: list[list[Any]] = []
        for (_, count), chance in zip(times.chances, probabilities, strict=True):
            share = work[0] * count / times.mean
            label = callee if count == 1 else f"{callee}_{count}"
            calls = {callee: count}
            step: Any = (
                self._step(key, entry, share, work[1], calls, label, fixed=True) if count else []
            )
            ways.append([chance, step])
        return ways

    def _chances(self, key: Key, callee: str, times: Ways) -> list[Any]:
        """Probabilities; a parameter if there are two outcomes."""
        if len(times.chances) != 2:
            rounded = [_rounded(chance) for chance, _ in times.chances]
            rounded[-1] = 1.0 - sum(rounded[:-1])
            return list(rounded)
        (_, low), (second, high) = times.chances
        error = _SURE * times.error / (high - low)
        name = _free(f"{self.names[key]}_{callee}_share", self.parameters)
        self.parameters[name] = {
            "value": _rounded(second),
            "min": 0,
            "max": 1,
            "ci95": [_rounded(max(second - error, 0.0)), _rounded(min(second + error, 1.0))],
            "doc": f"of requests that call {callee}"
            + (f" {high} times, not {low}" if (low, high) != (0, 1) else ""),
        }
        return [f"1 - {name}", name]

    def _count(self, key: Key, callee: str, mean: float, error: float) -> str:
        name = _free(f"{self.names[key]}_{callee}_calls", self.parameters)
        low, high = max(mean - _SURE * error, 0.0), mean + _SURE * error
        self.parameters[name] = {
            "value": _rounded(mean),
            "min": 0,
            "ci95": [_rounded(low), _rounded(high)],
            "doc": f"calls of {callee}, on average",
        }
        return name

    def _fork(
        self, key: Key, entry: Measured, stage: Stage, times: Times, work: tuple[float, float]
    ) -> Any:
        """Work, then calls at once, repeated by the law of its times."""
        mean = times.mean
        parts = [self.names[self._callee(number)] for number in stage.callees]
        label = "_and_".join(parts)
        before = self._step(key, entry, work[0] / mean, work[1], {}, f"before_{label}")
        branches = [
            self._step(
                key,
                entry,
                0.0,
                1.0,
                {part: 1},
                f"{part}_{k}" if parts.count(part) > 1 else part,
                fixed=True,
            )
            for k, part in enumerate(parts, 1)
        ]
        together: dict[str, Any] = {"together": branches}
        if stage.needed < len(branches):
            together["needed"] = int(stage.needed)
        body = [before, together]
        match times:
            case Always(1):
                return body
            case Ways(((none, 0), (_, 1))):
                return {"choice": [[_rounded(1 - none), body], [_rounded(none), []]]}
            case _:
                return {"loop": body, "times": _rounded(mean)}

    def _step(
        self,
        key: Key,
        entry: Measured,
        work: float,
        scv: float,
        calls: Mapping[str, Any],
        label: str,
        *,
        fixed: bool = False,
    ) -> str:
        """Add an activity; return its name."""
        label = _free(label, self.activities)
        raw = sum(block.work for block in entry.doing.blocks) + entry.doing.last
        share = work / raw if raw else 0.0
        step = self._worked(f"{_rounded(share)} * {self.names[key]}_work", self.part)
        slices = 1 + sum(count for count in calls.values() if not isinstance(count, str))
        if abs(scv - 1) > _TRIFLE and share:
            step["scv"] = _rounded(scv * slices / max(slices - 1, 1))
        if not share:
            step = {"demand": 0}
        if calls:
            step["calls"] = dict(calls)
            if self.left:
                total = sum(_calls_of(block) for block in entry.doing.blocks)
                part = self._mean_calls(calls) / total if total else 0.0
                way = f"{_rounded(part)} * {self.names[key]}_network"
                step["think_time"] = " + ".join(filter(None, [step.get("think_time"), way]))
        if fixed:
            step["fixed"] = True
        self.activities[label] = step
        return label

    def _mean_calls(self, calls: Mapping[str, Any]) -> float:
        return sum(
            float(self.parameters[count]["value"]) if isinstance(count, str) else float(count)
            for count in calls.values()
        )

    def _callee(self, number: int) -> Key:
        return self.services.numbered[number]


def _presets(loads: Sequence[Load]) -> dict[str, int]:
    """A preset for each load in which somebody asks from outside, with the number of that load."""
    return _squeezed({k: load.name for k, load in enumerate(loads) if load.shares})


def _own_numbers(
    times: Times, all_times: Sequence[Times], means: Sequence[float]
) -> tuple[float, ...]:
    """What a law's parameter is in each load, of the mean numbers there; empty without one."""
    others = sum(each.mean for each in all_times) - times.mean
    match times:
        case Geometric():
            return tuple(_rounded(max(mean - others, 0.0)) for mean in means)
        case Ways(((_, low), (_, high))):
            shares = ((mean - others - low) / (high - low) for mean in means)
            return tuple(_rounded(min(max(share, 0.0), 1.0)) for share in shares)
    return ()


def _free(label: str, taken: Mapping[str, Any]) -> str:
    count, name = 1, label
    while name in taken:
        count += 1
        name = f"{label}_{count}"
    return name


def _calls_of(block: Block) -> float:
    return sum(
        len(stage.callees) * sum(each.mean for each in times)
        for stage, times in zip(block.stages, block.times, strict=True)
    )


def _ms(seconds: float) -> str:
    return f"{_digits(seconds * 1e3)} ms"


def _digits(value: float) -> str:
    """A number as in files, without commas between thousands."""
    return significant(value, _DIGITS).replace(",", "")


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
