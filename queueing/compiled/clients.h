/* The pool of jobs, and clients that may give up and retry. Static functions, used by queues.h only. */
#ifndef HEADWAY_CLIENTS_H
#define HEADWAY_CLIENTS_H

#include "events.h"

#include "calendar.h"
#include "chance.h"
#include "lines.h"

/* Order of the laws: service by class and station; think time, patience and back-off by class; the
   gaps of each source. */

static ptrdiff_t thinking_law(const Play *p, int64_t class)
{
    return p->classes * p->stations + class;
}

static ptrdiff_t patience_law(const Play *p, int64_t class)
{
    return thinking_law(p, class) + p->classes;
}

static ptrdiff_t backoff_law(const Play *p, int64_t class)
{
    return patience_law(p, class) + p->classes;
}

static ptrdiff_t source_law(const Play *p, int64_t source)
{
    return thinking_law(p, 3 * p->classes) + source;
}

/* Owners of events: sources, then shared queues, then jobs. */

static int64_t owner_of_queue(const Play *p, int64_t q)
{
    return p->sources + q;
}

static int64_t owner_of_job(const Play *p, int64_t j)
{
    return p->sources + p->queues + j;
}

/* The pool of jobs. */

static int64_t take(Play *p, int64_t class)
{
    int64_t j = p->clock->unused;
    if (j == NONE)
        return NONE;
    p->clock->unused = p->job[j].next;
    p->clock->jobs++;
    p->job[j] = (Job){.class = class, .born = class, .queue = COMING, .target = NONE, .server = NONE,
                      .next = NONE, .previous = NONE, .child = NONE, .visit = NONE,
                      .request = NONE, .peer = NONE, .entering = NONE};
    return j;
}

static void drop(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    job->queue = UNUSED;
    job->visit = NONE;
    job->next = p->clock->unused;
    p->clock->unused = j;
    p->clock->jobs--;
}

/* The circuit breaker of a class: closed; open for a time; then half-open for some probes. Only an
   attempt that it let through in its present phase counts. */

/* Count for how long it was open. */
static void count_open(const Play *p, Crowd *crowd)
{
    double end = p->now < crowd->until ? p->now : crowd->until;
    if (end > crowd->since)
        crowd->open += end - crowd->since;
    crowd->since = p->now;
}

static void begin_phase(Crowd *crowd, int64_t breaker)
{
    crowd->breaker = breaker;
    crowd->phase++;
    crowd->passed = crowd->told = crowd->failed = crowd->place = 0;
}

static void open_circuit(const Play *p, const Class *class, Crowd *crowd)
{
    count_open(p, crowd);
    begin_phase(crowd, OPEN);
    crowd->openings++;
    crowd->until = p->now + class->open_for;
}

/* Whether it lets the next attempt through. */
static int lets_through(const Play *p, const Class *class, Crowd *crowd)
{
    if (crowd->breaker == OPEN && p->now >= crowd->until)
        begin_phase(crowd, HALF_OPEN);
    if (crowd->breaker == OPEN || (crowd->breaker == HALF_OPEN && crowd->passed >= class->probes)) {
        crowd->refused++;
        return 0;
    }
    crowd->passed++;
    return 1;
}

/* A probe has ended: the last of them closes the circuit, or opens it again. */
static void tell_probe(const Play *p, const Class *class, Crowd *crowd)
{
    if (crowd->told < class->probes)
        return;
    if (crowd->failed >= class->reopens)
        open_circuit(p, class, crowd);
    else
        begin_phase(crowd, CLOSED);
}

/* An attempt of a client has ended. */
static void tell(Play *p, const Job *client, int64_t failed)
{
    const Class *class = &p->class[client->class];
    Crowd *crowd = &p->crowd[client->class];
    if (class->outcomes == 0 || client->asked != crowd->phase)
        return;
    crowd->failed += failed;
    if (crowd->breaker == HALF_OPEN) {
        crowd->told++;
        tell_probe(p, class, crowd);
        return;
    }
    int64_t *kept = &p->outcome[class->outcome + crowd->place];
    if (crowd->told < class->outcomes)
        crowd->told++;
    else
        crowd->failed -= *kept;
    *kept = failed;
    crowd->place = (crowd->place + 1) % class->outcomes;
    if (crowd->told == class->outcomes && crowd->failed >= class->opens)
        open_circuit(p, class, crowd);
}

/* Clients. */

/* After a failed or refused attempt, a client backs off and retries later, or gives up. */
static void come_back(Play *p, int64_t c)
{
    Job *client = &p->job[c];
    const Class *class = &p->class[client->class];
    Crowd *crowd = &p->crowd[client->class];
    ptrdiff_t law = backoff_law(p, client->class);
    client->visit = NONE;
    int again = client->left > 0 && crowd->tokens >= 1;
    if (again && class->returns < 1)
        again = drawn(p, law) < class->returns;
    if (!again) {
        crowd->given_up++;
        cancel(p, owner_of_job(p, c));
        drop(p, c);
        return;
    }
    client->left--;
    crowd->tokens -= 1;
    double wait = client->key * sample(p, law);
    if (class->jitter > 0)
        wait *= 1 + class->jitter * (2 * drawn(p, law) - 1);
    client->key *= class->factor;
    client->queue = AWAY;
    schedule(p, owner_of_job(p, c), p->now + wait);
}

/* An attempt failed for which its client waits. */
static void disappoint(Play *p, int64_t c)
{
    tell(p, &p->job[c], 1);
    come_back(p, c);
}

/* Tell a client that still waits that its attempt failed: it was refused, or left the line. */
static void fail(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    if (job->peer == NONE)
        return;
    p->crowd[job->born].wasted += job->spent;
    if (p->job[job->peer].visit == job->asked)
        disappoint(p, job->peer);
}

/* Answer a client's attempt, if the client still waits; returns whether it did. */
static int answer(Play *p, const Job *job)
{
    int64_t c = job->peer;
    Crowd *crowd = &p->crowd[job->born];
    if (p->job[c].visit != job->asked) {
        crowd->late++;
        crowd->wasted += job->spent;
        return 0;
    }
    crowd->useful += job->spent;
    tell(p, &p->job[c], 0);
    cancel(p, owner_of_job(p, c));
    drop(p, c);
    return 1;
}

#endif
