/* Queues. Static functions, used by events.c only. */
#ifndef HEADWAY_QUEUES_H
#define HEADWAY_QUEUES_H

#include "clients.h"

/* Order of the streams: one for each law, each row of routes, the rounds of each class, the choice
   among queues and the order at each station, and the batch sizes of each source. */

static ptrdiff_t rounds_stream(const Play *p, int64_t class)
{
    return p->laws + p->rows + class;
}

static ptrdiff_t choice_stream(const Play *p, int64_t station)
{
    return p->laws + p->rows + p->classes + station;
}

static ptrdiff_t order_stream(const Play *p, int64_t station)
{
    return choice_stream(p, station) + p->stations;
}

static ptrdiff_t size_stream(const Play *p, int64_t source)
{
    return order_stream(p, p->stations) + source;
}

/* Size of a source's next batch: k or more with probability more**(k - 1), or from a table. */
static int64_t batch_size(Play *p, int64_t number)
{
    const Source *source = &p->source[number];
    if (source->more > 0)
        return 1 + (int64_t)(log(drawn(p, size_stream(p, number))) / log(source->more));
    if (source->sizes == 1)
        return p->size[source->size].jobs;
    double chance = drawn(p, size_stream(p, number));
    int64_t k = source->size, last = source->size + source->sizes - 1;
    while (k < last && chance >= p->size[k].chance)
        k++;
    return p->size[k].jobs;
}

/* Queues: counts, the discipline, and service times. */

static int is_full(const Play *p, int64_t q)
{
    return p->queue[q].present >= p->station[p->home[q]].places;
}

static double speed_of(const Play *p, const Station *station, int64_t present)
{
    int64_t most = present < station->speeds ? present : station->speeds;
    return p->speed[station->speed + (most > 0 ? most - 1 : 0)];
}

INLINED void count(Play *p, int64_t q)
{
    Queue *queue = &p->queue[q];
    double passed = p->now - queue->since, present = (double)queue->present;
    double sharing = (double)queue->serving;
    queue->since = p->now;
    if (!(passed > 0) || queue->present == 0)
        return;
    const Station *station = &p->station[p->home[q]];
    if (station->order == SHARED)
        queue->each += passed * speed_of(p, station, queue->present) / sharing;
    queue->present_area += passed * present;
    queue->used_area += passed * (present < station->crew ? present : station->crew);
    queue->held_area += passed * (double)queue->held;
}

/* When the next of the sharers of a queue finishes; each receives speed / sharing. Jobs taken out of
   service keep their place in the heap. */
static void share_out(Play *p, int64_t q)
{
    Queue *queue = &p->queue[q];
    while (queue->served_first != NONE && p->job[queue->served_first].queue == UNUSED)
        drop(p, pop(p, &queue->served_first));
    if (queue->served_first == NONE) {
        cancel(p, owner_of_queue(p, q));
        if (queue->present == 0)
            queue->each = 0; /* it would lose digits */
        return;
    }
    double left = p->job[queue->served_first].key - queue->each;
    double speed = speed_of(p, &p->station[p->home[q]], queue->present);
    left = left > 0 ? left : 0;
    schedule(p, owner_of_queue(p, q), p->now + left * (double)queue->serving / speed);
}

/* Time until some work is done by a server that works for only a share of each period. */
static double stretched(Play *p, const Station *station, Queue *queue, double work)
{
    double current = floor(p->now / station->period), budget = station->share * station->period;
    queue->allotted += work;
    if (current > queue->rest) {
        queue->rest = current;
        queue->worked = 0;
    }
    current = queue->rest;
    double left = budget - queue->worked, end = (current + 1) * station->period - p->now;
    left = left < end ? left : end;
    if (work <= left) {
        queue->worked += work;
        return work;
    }
    double over = work - (left > 0 ? left : 0), whole = ceil(over / budget) - 1;
    whole = whole > 0 ? whole : 0;
    queue->rest = current + 1 + whole;
    queue->worked = over - whole * budget;
    end = queue->rest * station->period + queue->worked;
    return end - p->now;
}

/* Serve a job at a server, or at a shared queue. */
INLINED void serve(Play *p, int64_t q, int64_t j)
{
    const Station *station = &p->station[p->home[q]];
    Queue *queue = &p->queue[q];
    Job *job = &p->job[j];
    double time = job->work;
    if (station->order == SHARED) {
        job->key = queue->each + time;
        push(p, &queue->served_first, j);
        share_out(p, q);
        return;
    }
    if (station->pace != NONE && job->server != NONE)
        time *= p->pace[station->pace + job->server];
    if (station->period > 0)
        time = stretched(p, station, queue, time);
    if (station->interrupts) {
        job->previous = NONE;
        job->next = queue->served_first;
        if (job->next != NONE)
            p->job[job->next].previous = j;
        queue->served_first = j;
    }
    schedule(p, owner_of_job(p, j), p->now + time);
}

/* A job takes the fastest of the free unequal servers, or any of them. */
static void take_server(Play *p, int64_t k, int64_t free, int64_t j)
{
    const Station *station = &p->station[k];
    int64_t *server = &p->server[station->pace], place = 0;
    if (station->any_server)
        place = (int64_t)(drawn(p, choice_stream(p, k)) * (double)free);
    for (int64_t s = 0; s < station->servers; s++)
        if (server[s] == NONE && place-- == 0) {
            server[s] = j;
            p->job[j].server = s;
        }
}

INLINED void start(Play *p, int64_t q, int64_t j)
{
    const Station *station = &p->station[p->home[q]];
    if (station->pace != NONE)
        take_server(p, p->home[q], station->servers - p->queue[q].serving, j);
    p->queue[q].serving++;
    p->job[j].lined = 0;
    p->job[j].spent += p->job[j].work;
    serve(p, q, j);
}

/* Take a job from the list of those in service, where they may be interrupted. */
static void take_from_service(Play *p, int64_t q, int64_t j)
{
    Job *job = &p->job[j];
    if (job->previous == NONE)
        p->queue[q].served_first = job->next;
    else
        p->job[job->previous].next = job->next;
    if (job->next != NONE)
        p->job[job->next].previous = job->previous;
}

/* The job that has to wait: the arrival, or the one that it interrupts, which resumes later. */
static int64_t interrupted(Play *p, int64_t q, int64_t j)
{
    int64_t last = p->queue[q].served_first;
    for (int64_t each = last; each != NONE; each = p->job[each].next)
        if (precedes(&p->job[last], &p->job[each]))
            last = each;
    if (last == NONE || p->job[last].key <= p->job[j].key)
        return j;
    int64_t owner = owner_of_job(p, last);
    if (p->at[owner] != NONE)
        p->job[last].work = p->event[p->at[owner]].time - p->now;
    p->job[last].spent -= p->job[last].work;
    cancel(p, owner);
    take_from_service(p, q, last);
    p->job[j].spent += p->job[j].work;
    serve(p, q, j);
    return last;
}

/* Whether a job is too old to be served, so that it is lost when its turn comes. */
INLINED int lost_by_age(Play *p, int64_t q, int64_t j)
{
    if (!(p->now - p->job[j].began > p->station[p->home[q]].oldest))
        return 0;
    p->queue[q].present--;
    p->queue[q].lost++;
    p->crowd[p->job[j].born].lost++;
    fail(p, j);
    drop(p, j);
    return 1;
}

/* A job that has to wait for the first time waits as long as its patience lasts. */
static void be_patient(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    if (p->class[job->born].impatient && job->peer != NONE && !job->waited) {
        job->waited = 1;
        schedule(p, owner_of_job(p, j), p->now + sample(p, patience_law(p, job->born)));
    }
}

INLINED void line_up(Play *p, int64_t q, int64_t j)
{
    const Station *station = &p->station[p->home[q]];
    Queue *queue = &p->queue[q];
    Job *job = &p->job[j];
    if (station->order == RANKED) {
        double priority = (double)p->class[job->class].priority, turn = (double)job->turn;
        job->key = station->by_turn * turn + station->by_priority * priority +
                   station->by_work * job->work;
        job->second = station->then_turn * turn + station->then_priority * priority +
                      station->then_work * job->work;
    }
    if (queue->serving < station->servers) {
        if (!lost_by_age(p, q, j))
            start(p, q, j);
        return;
    }
    int64_t waits = station->interrupts ? interrupted(p, q, j) : j;
    if (waits == j)
        be_patient(p, j);
    j = waits;
    p->job[j].lined = 1;
    queue->waiting++;
    if (station->order == RANKED)
        push(p, &queue->first, j);
    else
        append(p, &queue->first, &queue->last, j);
    if (station->order == SHARED)
        share_out(p, q); /* the speed may depend on the number present */
}

/* Take the next job out of the line, or one that left it but still has a place there. */
static int64_t next_in_line(Play *p, int64_t q)
{
    const Station *station = &p->station[p->home[q]];
    Queue *queue = &p->queue[q];
    int64_t place = 0;
    if (station->order == RANKED)
        return pop(p, &queue->first);
    if (station->order == AT_RANDOM) {
        double chance = drawn(p, order_stream(p, p->home[q]));
        place = (int64_t)(chance * (double)(queue->waiting + queue->gone));
    }
    return removed(p, &queue->first, &queue->last, place);
}

INLINED void start_next(Play *p, int64_t q)
{
    const Station *station = &p->station[p->home[q]];
    Queue *queue = &p->queue[q];
    while (queue->first != NONE && queue->serving < station->servers) {
        int64_t j = next_in_line(p, q);
        if (p->job[j].queue == UNUSED) {
            queue->gone--;
            drop(p, j);
            continue;
        }
        queue->waiting--;
        cancel(p, owner_of_job(p, j));
        if (!lost_by_age(p, q, j))
            start(p, q, j);
    }
}

/* Arrivals at queues, and departures. */

/* A job arrives at a queue; returns whether it was accepted. */
INLINED int arrive(Play *p, int64_t j, int64_t q)
{
    int64_t k = p->home[q];
    const Station *station = &p->station[k];
    Queue *queue = &p->queue[q];
    Job *job = &p->job[j];
    count(p, q);
    if (is_full(p, q)) {
        queue->lost++;
        p->crowd[job->born].lost++;
        fail(p, j);
        drop(p, j);
        return 0;
    }
    queue->present++;
    job->queue = q;
    job->came = p->now;
    job->turn = queue->come++;
    job->visit = p->clock->visits++;
    if (station->order == FORK)
        return 1; /* its parts are sent by events.c */
    job->work = sample(p, job->class * p->stations + k);
    if (station->order == AT_ONCE)
        schedule(p, owner_of_job(p, j), p->now + job->work);
    else
        line_up(p, q, j);
    return 1;
}

/* A job that was served, or taken out of service, frees its place, and the next one is served. */
INLINED void vacate(Play *p, int64_t j, int64_t q)
{
    const Station *station = &p->station[p->home[q]];
    Queue *queue = &p->queue[q];
    Job *job = &p->job[j];
    queue->present--;
    if (station->order == AT_ONCE || station->order == FORK)
        return;
    queue->serving--;
    if (station->pace != NONE && job->server != NONE)
        p->server[station->pace + job->server] = NONE;
    job->server = NONE;
    int64_t before = queue->serving;
    start_next(p, q);
    if (station->order == SHARED && queue->serving == before)
        share_out(p, q);
}

INLINED void depart(Play *p, int64_t j, int64_t q)
{
    Queue *queue = &p->queue[q];
    Job *job = &p->job[j];
    count(p, q);
    queue->served++;
    queue->stayed += p->now - job->came;
    queue->held -= job->held;
    job->held = 0;
    vacate(p, j, q);
}

/* A job leaves a line; its place remains until it comes to the head. */
static void leave_line(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    int64_t q = job->queue;
    count(p, q);
    cancel(p, owner_of_job(p, j));
    p->queue[q].present--;
    p->queue[q].waiting--;
    p->queue[q].gone++;
    job->queue = UNUSED;
    job->visit = NONE;
    if (p->station[p->home[q]].order == SHARED)
        share_out(p, q);
}

/* Remaining work of a job at a server. */
static double left_of(const Play *p, int64_t q, int64_t j)
{
    const Station *station = &p->station[p->home[q]];
    double left = p->event[p->at[owner_of_job(p, j)]].time - p->now;
    return station->pace == NONE ? left : left / p->pace[station->pace + p->job[j].server];
}

/* Take an attempt out of service, with its remaining work. */
static void leave_service(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    int64_t q = job->queue, owner = owner_of_job(p, j);
    int64_t shared = p->station[p->home[q]].order == SHARED;
    count(p, q);
    if (shared)
        job->spent -= job->key - p->queue[q].each;
    else if (p->at[owner] != NONE && p->station[p->home[q]].order != AT_ONCE)
        job->spent -= left_of(p, q, j);
    cancel(p, owner);
    if (p->station[p->home[q]].interrupts)
        take_from_service(p, q, j);
    job->queue = UNUSED;
    job->visit = NONE;
    vacate(p, j, q);
    if (!shared)
        drop(p, j);
}

/* Remove an attempt, wherever it is, as its client has gone and the servers notice. */
static void withdraw(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    p->crowd[job->born].withdrawn++;
    if (job->lined)
        leave_line(p, j);
    else
        leave_service(p, j);
    p->crowd[job->born].wasted += job->spent;
}

#endif
