"""What networks of several classes are made of, in short."""

from hypothesis import strategies as st

from headway.queueing import Discipline, JobClass, ServiceKind, SharedStation

# The acceptance for methods that are all exact.
AGREE = 1e-10

demands = st.floats(0.01, 10.0)


def shared(name, demand, servers=1, kind=ServiceKind.QUEUE, discipline=Discipline.SHARING):
    return SharedStation(name, demand, [1] * len(demand), kind, servers, discipline)


def opened(rate, name="open"):
    return JobClass(name, arrival_rate=rate)


def closed(population, think_time=0.0, name="closed"):
    return JobClass(name, population=population, think_time=think_time)
