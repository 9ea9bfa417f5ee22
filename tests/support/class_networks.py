"""What networks of several classes are made of, in short."""

from hypothesis import strategies as st

from headway.queueing import Discipline, JobClass, Method, ServiceKind, SharedStation

# The acceptance for methods that are all exact.
AGREE = 1e-10

# A chain of all states needs to know how jobs go, which visits alone do not say.
BY_VISITS = [method for method in Method if method is not Method.CHAIN]

demands = st.floats(0.01, 10.0)


def shared(name, demand, servers=1, kind=ServiceKind.QUEUE, discipline=Discipline.SHARING):
    return SharedStation(name, demand, [1] * len(demand), kind, servers, discipline)


def opened(rate, name="open"):
    return JobClass(name, arrival_rate=rate)


def closed(population, think_time=0.0, name="closed"):
    return JobClass(name, population=population, think_time=think_time)
