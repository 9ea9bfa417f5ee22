/* The pool of jobs, and queues; static, for events.c alone. */
#ifndef HEADWAY_QUEUES_H
#define HEADWAY_QUEUES_H

#include "events.h"

#include "calendar.h"
#include "chance.h"
#include "lines.h"

/* Streams stand in this order: a law each, a row of routes each, the rounds of each class, the choice
   among queues and the order at each station, and the sizes of batches of each source. */

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

/* Jobs of the next batch of a source: k or more with probability more**(k - 1), or by a table. */
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

/* Owners of events: sources, then queues that are shared, then jobs. */

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
                      .request = NONE};
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

/* Queues: what is counted, who is served, how long. */

static int is_full(const Play *p, int64_t q)
{
    return p->queue[q].present >= p->station[p->home[q]].places;
}

static double speed_of(const Play *p, const Station *station, int64_t present)
{
    int64_t most = present < station->speeds ? present : station->speeds;
    return p->speed[station->speed + (most > 0 ? most - 1 : 0)];
}

static void count(Play *p, int64_t q)
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

/* When the next of those who share a queue is done: each receives speed / sharing. */
static void share_out(Play *p, int64_t q)
{
    Queue *queue = &p->queue[q];
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

/* Time until some work is done by a server that works for a share of each period only. */
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

/* Let a job at a server, or at a shared queue, be served. */
static void serve(Play *p, int64_t q, int64_t j)
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

/* Let a job take the fastest of unequal servers that are free, or any of these. */
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

static void start(Play *p, int64_t q, int64_t j)
{
    const Station *station = &p->station[p->home[q]];
    if (station->pace != NONE)
        take_server(p, p->home[q], station->servers - p->queue[q].serving, j);
    p->queue[q].serving++;
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

/* The job that has to wait: one that comes, or one that it interrupts, which resumes later. */
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
    cancel(p, owner);
    take_from_service(p, q, last);
    serve(p, q, j);
    return last;
}

static void line_up(Play *p, int64_t q, int64_t j)
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
        start(p, q, j);
        return;
    }
    if (station->interrupts)
        j = interrupted(p, q, j);
    queue->waiting++;
    if (station->order == RANKED)
        push(p, &queue->first, j);
    else
        append(p, &queue->first, &queue->last, j);
    if (station->order == SHARED)
        share_out(p, q); /* its speed may change with the number present */
}

static void start_next(Play *p, int64_t q)
{
    const Station *station = &p->station[p->home[q]];
    Queue *queue = &p->queue[q];
    int64_t place = 0;
    if (queue->first == NONE || queue->serving >= station->servers)
        return;
    if (station->order == AT_RANDOM) {
        double chance = drawn(p, order_stream(p, p->home[q]));
        place = (int64_t)(chance * (double)queue->waiting);
    }
    queue->waiting--;
    start(p, q,
          station->order == RANKED ? pop(p, &queue->first)
                                   : removed(p, &queue->first, &queue->last, place));
}

/* Arrivals at queues, and departures. */

/* Let a job come to a queue; whether it was not lost. */
static int arrive(Play *p, int64_t j, int64_t q)
{
    int64_t k = p->home[q];
    const Station *station = &p->station[k];
    Queue *queue = &p->queue[q];
    Job *job = &p->job[j];
    count(p, q);
    if (is_full(p, q)) {
        queue->lost++;
        p->crowd[job->born].lost++;
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

static void depart(Play *p, int64_t j, int64_t q)
{
    const Station *station = &p->station[p->home[q]];
    Queue *queue = &p->queue[q];
    Job *job = &p->job[j];
    count(p, q);
    queue->present--;
    queue->served++;
    queue->stayed += p->now - job->came;
    queue->held -= job->held;
    job->held = 0;
    if (station->order == AT_ONCE || station->order == FORK)
        return;
    queue->serving--;
    if (station->order == SHARED && queue->first == NONE)
        share_out(p, q);
    if (station->pace != NONE && job->server != NONE)
        p->server[station->pace + job->server] = NONE;
    job->server = NONE;
    start_next(p, q);
}

#endif
