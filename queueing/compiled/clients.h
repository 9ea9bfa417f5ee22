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

/* Clients. */

/* After a failed attempt, a client backs off and retries later, or gives up. */
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

/* Tell a client that still waits that its attempt failed: it was refused, or left the line. */
static void fail(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    if (job->peer == NONE)
        return;
    p->crowd[job->born].wasted += job->spent;
    if (p->job[job->peer].visit == job->asked)
        come_back(p, job->peer);
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
    cancel(p, owner_of_job(p, c));
    drop(p, c);
    return 1;
}

#endif
