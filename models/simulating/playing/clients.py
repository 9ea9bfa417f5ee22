"""The pool of jobs, and clients that may give up: the twin of ``clients.h``, in the same order."""

from headway.models.simulating.playing.chance import Play
from headway.models.simulating.playing.rows import Breaker, Class, Crowd, Job, Where
from headway.queueing.playing.calendar import cancel, schedule
from headway.queueing.playing.chance import drawn, sample
from headway.queueing.playing.rows import NONE

# Laws


def thinking_law(p: Play, class_: int) -> int:
    """The law of the think times of a class."""
    return p.classes * p.stations + class_


def patience_law(p: Play, class_: int) -> int:
    """The law of the patience of a class."""
    return thinking_law(p, class_) + p.classes


def backoff_law(p: Play, class_: int) -> int:
    """The law of the backoff of a class."""
    return patience_law(p, class_) + p.classes


def source_law(p: Play, source: int) -> int:
    """The law of the interarrival times of a source."""
    return thinking_law(p, 3 * p.classes) + source


# Which entity an event in the calendar belongs to


def owner_of_queue(p: Play, q: int) -> int:
    """The entity whose next event is that of a shared queue."""
    return p.sources + q


def owner_of_job(p: Play, j: int) -> int:
    """The entity whose next event is that of a job."""
    return p.sources + p.queues + j


# The pool of jobs


def take(p: Play, class_: int) -> int:
    """Take a job out of the pool; NONE if all are in use."""
    j = p.clock.unused
    if j == NONE:
        return NONE
    p.clock.unused = p.job[j].next
    p.clock.jobs += 1
    p.job[j] = Job(class_, class_, queue=Where.COMING)
    return j


def drop(p: Play, j: int) -> None:
    """Return a job to the pool."""
    job = p.job[j]
    job.queue, job.visit, job.next = Where.UNUSED, NONE, p.clock.unused
    p.clock.unused = j
    p.clock.jobs -= 1


# The circuit breaker of a class


def count_open(p: Play, crowd: Crowd) -> None:
    """Count for how long a breaker was open."""
    end = min(p.now, crowd.until)
    if end > crowd.since:
        crowd.open += end - crowd.since
    crowd.since = p.now


def _begin_phase(crowd: Crowd, breaker: Breaker) -> None:
    crowd.breaker = breaker
    crowd.phase += 1
    crowd.passed = crowd.told = crowd.failed = crowd.place = 0


def _open_circuit(p: Play, class_: Class, crowd: Crowd) -> None:
    count_open(p, crowd)
    _begin_phase(crowd, Breaker.OPEN)
    crowd.openings += 1
    crowd.until = p.now + class_.open_for


def lets_through(p: Play, class_: Class, crowd: Crowd) -> bool:
    """Whether a breaker lets the next attempt through."""
    if crowd.breaker == Breaker.OPEN and p.now >= crowd.until:
        _begin_phase(crowd, Breaker.HALF_OPEN)
    tried = crowd.breaker == Breaker.HALF_OPEN and crowd.passed >= class_.probes
    if crowd.breaker == Breaker.OPEN or tried:
        crowd.refused += 1
        return False
    crowd.passed += 1
    return True


def _tell_probe(p: Play, class_: Class, crowd: Crowd) -> None:
    """Let the last of the probes close the circuit, or open it again."""
    if crowd.told < class_.probes:
        return
    if crowd.failed >= class_.reopens:
        _open_circuit(p, class_, crowd)
    else:
        _begin_phase(crowd, Breaker.CLOSED)


def tell(p: Play, client: Job, failed: int) -> None:
    """Tell a breaker that an attempt has ended, which it let through in its present phase."""
    class_, crowd = p.class_[client.class_], p.crowd[client.class_]
    if class_.outcomes == 0 or client.asked != crowd.phase:
        return
    crowd.failed += failed
    if crowd.breaker == Breaker.HALF_OPEN:
        crowd.told += 1
        _tell_probe(p, class_, crowd)
        return
    place = class_.outcome + crowd.place
    if crowd.told < class_.outcomes:
        crowd.told += 1
    else:
        crowd.failed -= p.outcome[place]
    p.outcome[place] = failed
    crowd.place = (crowd.place + 1) % class_.outcomes
    if crowd.told == class_.outcomes and crowd.failed >= class_.opens:
        _open_circuit(p, class_, crowd)


# Clients


def come_back(p: Play, c: int) -> None:
    """Let a client whose attempt failed or was refused back off and retry, or give up."""
    client = p.job[c]
    class_, crowd = p.class_[client.class_], p.crowd[client.class_]
    law = backoff_law(p, client.class_)
    client.visit = NONE
    again = client.left > 0 and crowd.tokens >= 1
    if again and class_.returns < 1:
        again = drawn(p, law) < class_.returns
    if not again:
        crowd.given_up += 1
        cancel(p, owner_of_job(p, c))
        drop(p, c)
        return
    client.left -= 1
    crowd.tokens -= 1
    wait = client.key * sample(p, law)
    if class_.jitter > 0:
        wait *= 1 + class_.jitter * (2 * drawn(p, law) - 1)
    client.key *= class_.factor
    client.queue = Where.AWAY
    schedule(p, owner_of_job(p, c), p.now + wait)


def disappoint(p: Play, c: int) -> None:
    """Let an attempt fail for which its client waits."""
    tell(p, p.job[c], 1)
    come_back(p, c)


def fail(p: Play, j: int) -> None:
    """Tell a client that still waits that its attempt failed: it was refused, or left a line."""
    job = p.job[j]
    if job.peer == NONE:
        return
    p.crowd[job.born].wasted += job.spent
    if p.job[job.peer].visit == job.asked:
        disappoint(p, job.peer)


def answer(p: Play, job: Job) -> bool:
    """Give a client that still waits the answer to its attempt; return whether it did wait."""
    c, crowd = job.peer, p.crowd[job.born]
    if p.job[c].visit != job.asked:
        crowd.late += 1
        crowd.wasted += job.spent
        return False
    crowd.useful += job.spent
    tell(p, p.job[c], 0)
    cancel(p, owner_of_job(p, c))
    drop(p, c)
    return True
