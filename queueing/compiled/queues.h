/* The calendar, lines of jobs, and queues; static, for events.c alone. */
#ifndef HEADWAY_QUEUES_H
#define HEADWAY_QUEUES_H

#include "chance.h"

/* The calendar: a heap of events by time, and by number where times are equal. Sources are its first
   owners, then queues that are shared, then jobs. */

static int sooner(const Event *one, const Event *other)
{
    return one->time < other->time || (one->time == other->time && one->number < other->number);
}

static void put(Play *p, int64_t place, Event event)
{
    p->event[place] = event;
    p->at[event.owner] = place;
}

static void rise(Play *p, int64_t place, Event event)
{
    while (place > 0) {
        int64_t above = (place - 1) / 2;
        if (!sooner(&event, &p->event[above]))
            break;
        put(p, place, p->event[above]);
        place = above;
    }
    put(p, place, event);
}

static void sink(Play *p, int64_t place, Event event)
{
    int64_t size = p->clock->size;
    for (int64_t below; (below = 2 * place + 1) < size; place = below) {
        if (below + 1 < size && sooner(&p->event[below + 1], &p->event[below]))
            below++;
        if (!sooner(&p->event[below], &event))
            break;
        put(p, place, p->event[below]);
    }
    put(p, place, event);
}

static void schedule(Play *p, int64_t owner, double time)
{
    int64_t place = p->at[owner];
    Event event = {time, p->clock->scheduled++, owner};
    if (place == NONE && p->hole) {
        p->hole = 0;
        sink(p, 0, event);
    } else if (place == NONE)
        rise(p, p->clock->size++, event);
    else if (sooner(&event, &p->event[place]))
        rise(p, place, event);
    else
        sink(p, place, event);
}

static void cancel(Play *p, int64_t owner)
{
    int64_t place = p->at[owner];
    if (place == NONE)
        return;
    p->at[owner] = NONE;
    Event last = p->event[--p->clock->size];
    if (place == p->clock->size)
        return;
    if (sooner(&last, &p->event[place]))
        rise(p, place, last);
    else
        sink(p, place, last);
}

/* The event that is played leaves a hole in first place, which the next that is new fills. What it
   held is still sooner than all others, so the rest of the heap does not notice. */
static void open_hole(Play *p)
{
    p->at[p->event[0].owner] = NONE;
    p->hole = 1;
}

static void close_hole(Play *p)
{
    if (!p->hole)
        return;
    p->hole = 0;
    Event last = p->event[--p->clock->size];
    if (p->clock->size > 0)
        sink(p, 0, last);
}

static int64_t owner_of_queue(const Play *p, int64_t q)
{
    return p->sources + q;
}

static int64_t owner_of_job(const Play *p, int64_t j)
{
    return p->sources + p->queues + j;
}

/* The pool of jobs, their lines, and pairing heaps (Fredman and others, Algorithmica 1, 1986) by
   key, second key and turn. */

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

static void append(Play *p, int64_t *first, int64_t *last, int64_t j)
{
    p->job[j].next = NONE;
    if (*first == NONE || *last == NONE)
        *first = j;
    else
        p->job[*last].next = j;
    *last = j;
}

static int64_t removed(Play *p, int64_t *first, int64_t *last, int64_t place)
{
    int64_t before = NONE, j = *first;
    for (; place > 0 && p->job[j].next != NONE; place--) {
        before = j;
        j = p->job[j].next;
    }
    int64_t next = p->job[j].next;
    if (before == NONE)
        *first = next;
    else
        p->job[before].next = next;
    if (next == NONE)
        *last = before;
    p->job[j].next = NONE;
    return j;
}

static int precedes(const Job *one, const Job *other)
{
    if (one->key != other->key)
        return one->key < other->key;
    if (one->second != other->second)
        return one->second < other->second;
    return one->turn < other->turn;
}

static int64_t merged(Play *p, int64_t one, int64_t other)
{
    if (one == NONE || other == NONE)
        return one == NONE ? other : one;
    if (precedes(&p->job[other], &p->job[one])) {
        int64_t first = other;
        other = one;
        one = first;
    }
    p->job[other].next = p->job[one].child;
    p->job[one].child = other;
    return one;
}

static void push(Play *p, int64_t *heap, int64_t j)
{
    p->job[j].next = p->job[j].child = NONE;
    *heap = merged(p, *heap, j);
}

static int64_t pop(Play *p, int64_t *heap)
{
    int64_t first = *heap, each = p->job[first].child, pairs = NONE;
    while (each != NONE) {
        int64_t one = each, other = p->job[one].next;
        each = other == NONE ? NONE : p->job[other].next;
        one = merged(p, one, other);
        p->job[one].next = pairs;
        pairs = one;
    }
    *heap = NONE;
    while (pairs != NONE) {
        int64_t next = p->job[pairs].next;
        *heap = merged(p, *heap, pairs);
        pairs = next;
    }
    if (*heap != NONE)
        p->job[*heap].next = NONE;
    p->job[first].child = NONE;
    return first;
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

static int fork_out(Play *p, const Station *station, int64_t j);

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
        return fork_out(p, station, j);
    job->work = sample(p, job->class * p->stations + k);
    if (station->order == AT_ONCE)
        schedule(p, owner_of_job(p, j), p->now + job->work);
    else
        line_up(p, q, j);
    return 1;
}

/* Send the parts of a request to different queues of each branch, any of them alike. */
static int fork_out(Play *p, const Station *station, int64_t j)
{
    p->job[j].left = station->needed;
    for (int64_t b = station->branch; b < station->branch + station->branches; b++) {
        int64_t k = p->branch[b].station, parts = p->branch[b].parts;
        int64_t queue = p->station[k].queue, queues = p->station[k].queues;
        for (int64_t seen = 0; seen < queues && parts > 0; seen++) {
            int64_t rest = queues - seen;
            if (parts < rest && drawn(p, choice_stream(p, k)) * (double)rest >= (double)parts)
                continue;
            int64_t part = take(p, p->job[j].class);
            if (part == NONE)
                return 1; /* never: room is made before each event */
            p->job[part].request = j;
            p->job[part].asked = p->job[j].visit;
            arrive(p, part, queue + seen);
            parts--;
        }
    }
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
