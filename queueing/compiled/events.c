/* The events of a network, job by job: headway.models.simulating.playing.loop.

   Python allocates the score and the state (events.h), and continues where a call stops: after so
   many events, at a time, or when an array is full. */
#include <math.h>

#include "events.h"

#define STILL 10000000 /* events at one time that are taken for a loop without end */

/* Streams: the k-th number of a stream is mix(key + k odd), by the finaliser of splitmix64 (Steele,
   Lea and Flood, OOPSLA 2014). Streams stand in this order: a law each, a row of routes each, the
   rounds of each class, the choice among queues and the order at each station. */

static uint64_t mixed(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint64_t bits(uint64_t key, uint64_t k)
{
    return mixed(key + k * 0x9E3779B97F4A7C15u);
}

/* In (0, 1): odd multiples of 2**-53. */
static double unit(uint64_t key, uint64_t k)
{
    return (double)(int64_t)(bits(key, k) >> 11 | 1) * 0x1p-53;
}

static double drawn(Play *p, ptrdiff_t stream)
{
    Stream *s = &p->stream[stream];
    return unit((uint64_t)s->key, (uint64_t)s->next++);
}

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

/* Samples. Who needs several numbers has a stream of its own for each sample, so the k-th sample is
   the same whatever came before. */

/* Polar method (Marsaglia and Bray 1964). */
static double normal(uint64_t key, uint64_t *k)
{
    for (;;) {
        double u = 2 * unit(key, (*k)++) - 1, v = 2 * unit(key, (*k)++) - 1, s = u * u + v * v;
        if (s < 1 && s > 0)
            return u * sqrt(-2 * log(s) / s);
    }
}

/* Marsaglia and Tsang, ACM TOMS 26(3), 2000; below 1 by U**(1 / shape) times that of shape + 1. */
static double gamma_sample(double shape, uint64_t key)
{
    uint64_t k = 0;
    double boost = 1;
    if (shape < 1) {
        boost = pow(unit(key, k++), 1 / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(key, &k), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(unit(key, k++)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v * boost;
    }
}

static double sample(Play *p, ptrdiff_t number)
{
    const Law *law = &p->law[number];
    Stream *s = &p->stream[number];
    if (law->kind == CONSTANT)
        return law->first + law->shift;
    if (law->kind == EXPONENTIAL)
        return law->shift - law->first * log(drawn(p, number));
    if (law->kind == GAMMA)
        return law->shift +
               law->second * gamma_sample(law->first, bits((uint64_t)s->key, (uint64_t)s->next++));
    double u = drawn(p, number);
    if (u < law->first)
        return law->shift - law->second * log(u / law->first);
    return law->shift - law->third * log((1 - u) / (1 - law->first));
}

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
    if (place == NONE)
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

static void push(Play *p, Queue *queue, int64_t j)
{
    p->job[j].next = p->job[j].child = NONE;
    queue->first = merged(p, queue->first, j);
}

static int64_t pop(Play *p, Queue *queue)
{
    int64_t first = queue->first, each = p->job[first].child, pairs = NONE;
    while (each != NONE) {
        int64_t one = each, other = p->job[one].next;
        each = other == NONE ? NONE : p->job[other].next;
        one = merged(p, one, other);
        p->job[one].next = pairs;
        pairs = one;
    }
    queue->first = NONE;
    while (pairs != NONE) {
        int64_t next = p->job[pairs].next;
        queue->first = merged(p, queue->first, pairs);
        pairs = next;
    }
    if (queue->first != NONE)
        p->job[queue->first].next = NONE;
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
    queue->since = p->now;
    if (!(passed > 0) || queue->present == 0)
        return;
    const Station *station = &p->station[p->home[q]];
    if (station->order == SHARED)
        queue->each += passed * speed_of(p, station, queue->present) / present;
    queue->present_area += passed * present;
    queue->used_area += passed * (present < station->crew ? present : station->crew);
    queue->held_area += passed * (double)queue->held;
}

/* When the next of those who share a queue is done: all receive speed / present. */
static void share_out(Play *p, int64_t q)
{
    Queue *queue = &p->queue[q];
    if (queue->first == NONE) {
        cancel(p, owner_of_queue(p, q));
        if (queue->present == 0)
            queue->each = 0; /* it would lose digits */
        return;
    }
    double left = p->job[queue->first].key - queue->each;
    double speed = speed_of(p, &p->station[p->home[q]], queue->present);
    left = left > 0 ? left : 0;
    schedule(p, owner_of_queue(p, q), p->now + left * (double)queue->present / speed);
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
        push(p, queue, j);
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

static void start(Play *p, int64_t q, int64_t j)
{
    const Station *station = &p->station[p->home[q]];
    p->queue[q].serving++;
    if (station->pace != NONE)
        for (int64_t k = 0; k < station->servers; k++)
            if (p->server[station->pace + k] == NONE) {
                p->server[station->pace + k] = j;
                p->job[j].server = k;
                break;
            }
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
        push(p, queue, j);
    else
        append(p, &queue->first, &queue->last, j);
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
          station->order == RANKED ? pop(p, queue)
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
    else if (station->order == SHARED)
        serve(p, q, j);
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
    if (station->order == SHARED)
        share_out(p, q);
    if (station->order == SHARED || station->order == AT_ONCE || station->order == FORK)
        return;
    queue->serving--;
    if (station->pace != NONE && job->server != NONE)
        p->server[station->pace + job->server] = NONE;
    job->server = NONE;
    start_next(p, q);
}

/* Regions: jobs that find no place wait outside, in order of arrival. */

static void count_gate(Play *p, Gate *gate)
{
    double passed = p->now - gate->since;
    gate->since = p->now;
    gate->waiting_area += passed * (double)gate->waiting;
    gate->inside_area += passed * (double)gate->inside;
    if (gate->inside >= gate->limit)
        gate->full += passed;
}

static void admit(Play *p, Gate *gate)
{
    while (gate->inside < gate->limit && gate->first != NONE) {
        int64_t j = removed(p, &gate->first, &gate->last, 0);
        gate->waiting--;
        gate->entered++;
        if (p->job[j].target != NONE)
            gate->inside += arrive(p, j, p->job[j].target);
    }
}

static int64_t region_of(const Play *p, int64_t q)
{
    return q < 0 ? NONE : p->station[p->home[q]].region;
}

static void leave_region(Play *p, int64_t region)
{
    if (region == NONE)
        return;
    count_gate(p, &p->gate[region]);
    p->gate[region].inside--;
    admit(p, &p->gate[region]);
}

/* Let a job come to a queue from another or from outside, through the gates of regions. */
static void pass(Play *p, int64_t j, int64_t from, int64_t to)
{
    int64_t here = region_of(p, from), there = region_of(p, to), anew = p->job[j].anew;
    if (there == NONE || (there == here && !anew))
        arrive(p, j, to);
    else {
        Gate *gate = &p->gate[there];
        count_gate(p, gate);
        p->job[j].queue = AT_GATE;
        p->job[j].target = to;
        gate->waiting++;
        append(p, &gate->first, &gate->last, j);
        admit(p, gate);
    }
    if (here != there || anew)
        leave_region(p, here);
}

/* Journeys: where a job goes next. */

typedef struct { int64_t class, station, round, ends, begins; } Next;

static Next by_row(Play *p, int64_t class, int64_t row)
{
    double chance = drawn(p, p->laws + row);
    int64_t low = p->row[row], end = p->row[row + 1], high = end;
    while (low < high) { /* the first whose cumulated chance is more */
        int64_t middle = (low + high) / 2;
        if (chance < p->way[middle].chance)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == end)
        return (Next){.class = class, .station = NONE};
    return (Next){.class = p->way[low].class, .station = p->way[low].station};
}

/* Visits of a journey to a station: the whole ones, and one more by chance. */
static int64_t visits_of(const Play *p, int64_t class, int64_t number, int64_t k)
{
    double mean = p->visits[class * p->stations + k], whole = floor(mean);
    uint64_t key = (uint64_t)p->stream[rounds_stream(p, class)].key;
    if (mean == whole)
        return (int64_t)whole;
    return (int64_t)whole +
           (unit(key, (uint64_t)number * (uint64_t)p->stations + (uint64_t)k) < mean - whole);
}

/* Round r = turn x stations + station: those that a job still has to visit, from some round on. */
static Next by_rounds(const Play *p, int64_t class, int64_t number, int64_t round)
{
    int64_t stations = p->stations;
    for (;;) {
        int64_t turn = round / stations, midway = round % stations;
        for (; round / stations == turn; round++)
            if (visits_of(p, class, number, round % stations) > turn)
                return (Next){.class = class, .station = round % stations, .round = round};
        if (!midway) /* a whole turn without a visit is the last */
            return (Next){.class = class, .station = NONE};
    }
}

/* Where the journey of a class begins that has a number. */
static Next entry(Play *p, int64_t class, int64_t number)
{
    if (p->class[class].rounds)
        return by_rounds(p, class, number, 0);
    return by_row(p, class, p->classes * p->stations + class);
}

static Next onward(Play *p, const Job *job)
{
    if (p->class[job->class].rounds)
        return by_rounds(p, job->class, job->number, job->round + 1);
    return by_row(p, job->class, job->class * p->stations + p->home[job->queue]);
}

/* The shortest of some queues; by chance where several are. */
static int64_t shortest(const Play *p, int64_t first, int64_t count, double chance)
{
    int64_t least = p->queue[first].present, alike = 0;
    for (int64_t q = first; q < first + count; q++) {
        if (p->queue[q].present < least) {
            least = p->queue[q].present;
            alike = 0;
        }
        alike += p->queue[q].present == least;
    }
    int64_t place = (int64_t)(chance * (double)alike), found = first;
    for (int64_t q = first; q < first + count; q++)
        if (p->queue[q].present == least && place-- == 0)
            found = q;
    return found;
}

/* The shorter of two different queues; the first drawn where they are alike. */
static int64_t shorter(Play *p, int64_t first, int64_t count, double chance, int64_t k)
{
    int64_t one = (int64_t)(chance * (double)count);
    int64_t other = (int64_t)(drawn(p, choice_stream(p, k)) * (double)(count - 1));
    other += other >= one;
    return first + (p->queue[first + other].present < p->queue[first + one].present ? other : one);
}

/* The queue of a station that a job chooses. */
static int64_t chosen(Play *p, int64_t k)
{
    const Station *station = &p->station[k];
    int64_t first = station->queue, count = station->queues;
    if (count == 1)
        return first;
    if (station->choice == ROUND_ROBIN)
        return first + p->stream[choice_stream(p, k)].next++ % count;
    double chance = drawn(p, choice_stream(p, k));
    if (station->choice == SHORTEST)
        return shortest(p, first, count, chance);
    if (station->choice == TWO_CHOICES)
        return shorter(p, first, count, chance, k);
    return first + (int64_t)(chance * (double)count);
}

static void begin_journey(Play *p, Job *job)
{
    if (job->begun)
        return;
    job->begun = 1;
    job->born = job->class;
    job->began = p->now;
    job->number = p->crowd[job->class].started++;
}

static void end_journey(Play *p, Job *job)
{
    Crowd *crowd = &p->crowd[job->born];
    double time = p->now - job->began;
    job->begun = 0;
    crowd->ended++;
    crowd->taken += time;
    if (p->clock->kept)
        p->journey[p->clock->recorded++] = (Journey){job->born, time};
}

static void think(Play *p, int64_t j)
{
    p->job[j].queue = THINKING;
    schedule(p, owner_of_job(p, j),
             p->now + sample(p, p->classes * p->stations + p->job[j].class));
}

/* A job leaves: a closed one thinks before its next journey. */
static void leave(Play *p, int64_t j, int64_t from)
{
    int64_t is_part = p->job[j].request != NONE, here = is_part ? NONE : region_of(p, from);
    if (p->class[p->job[j].class].closed && !is_part)
        think(p, j);
    else
        drop(p, j);
    leave_region(p, here);
}

/* Take a job from where it is to a queue, or out. A place that it leaves goes to the first job that
   is held up for it, whose own place goes to the next. */
static void move(Play *p, int64_t j, int64_t to)
{
    for (;;) {
        int64_t from = p->job[j].queue;
        if (from >= 0)
            depart(p, j, from);
        if (to >= 0)
            pass(p, j, from, to);
        else
            leave(p, j, from);
        if (from < 0 || p->queue[from].held_first == NONE || is_full(p, from))
            return;
        j = removed(p, &p->queue[from].held_first, &p->queue[from].held_last, 0);
        to = from;
    }
}

/* A place for a job that is there from the start, where the station at which it enters is full. */
static int64_t seat(const Play *p, int64_t target)
{
    for (ptrdiff_t k = 0; k < p->stations && is_full(p, target); k++)
        if (!is_full(p, p->station[k].queue))
            return p->station[k].queue;
    return target;
}

/* Where a job goes from where it is: a station, or out; and whether a journey ends, and one begins.
   The next begins at once where no time passes between them. */
static Next decided(Play *p, const Job *job, int64_t entering)
{
    Next next = {job->class, entering, 0, 0, 1};
    if (job->queue >= 0) {
        next = onward(p, job);
        next.ends = next.station == NONE;
        next.begins = next.ends && p->class[next.class].closed && !p->class[next.class].waits;
    }
    if (next.begins && entering == NONE) {
        int64_t begun = job->begun && !next.ends, ends = next.ends;
        next = entry(p, next.class, begun ? job->number : p->crowd[next.class].started);
        next.ends = ends;
        next.begins = 1;
    }
    return next;
}

/* Begin once more where it is: with service, or with thinking. */
static void repeat(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    int64_t q = job->queue;
    if (q == THINKING) {
        begin_journey(p, job);
        think(p, j);
        return;
    }
    count(p, q);
    job->work = sample(p, job->class * p->stations + p->home[q]);
    serve(p, q, j);
}

/* Keep a job where it is until there is a place at its target. */
static void hold_up(Play *p, int64_t j, int64_t target)
{
    int64_t q = p->job[j].queue;
    if (q >= 0) {
        count(p, q);
        p->queue[q].held++;
        p->job[j].held = 1;
        if (p->station[p->home[q]].order == SHARED)
            share_out(p, q);
    }
    append(p, &p->queue[target].held_first, &p->queue[target].held_last, j);
}

/* The fate of a job whose target is full; 0 if it goes there. */
static int64_t fate(const Play *p, const Job *job, int64_t target)
{
    if (target == NONE || target == job->queue || job->queue == COMING || !is_full(p, target))
        return 0;
    return p->station[p->home[target]].blocking;
}

/* A job is done where it is: at a queue, with thinking, or before it first comes. */
static void go_on(Play *p, int64_t j, int64_t entering)
{
    Job *job = &p->job[j];
    Next next = decided(p, job, entering);
    int64_t target = next.station == NONE ? NONE : chosen(p, next.station);
    if (job->queue == COMING && target != NONE && p->class[job->class].closed)
        target = seat(p, target);
    int64_t full = fate(p, job, target);
    if (full == REPETITIVE) {
        repeat(p, j);
        return;
    }
    if (next.ends)
        end_journey(p, job);
    job->class = next.class;
    job->round = next.round;
    job->anew = next.begins;
    if (next.begins)
        begin_journey(p, job);
    if (next.begins && target == NONE)
        end_journey(p, job);
    if (full == AFTER_SERVICE)
        hold_up(p, j, target);
    else
        move(p, j, target);
}

/* A part is done: its request goes on if that was the last that it needs. */
static void finish_part(Play *p, int64_t part)
{
    int64_t request = p->job[part].request, asked = p->job[part].asked;
    move(p, part, NONE);
    if (p->job[request].visit == asked && --p->job[request].left == 0)
        go_on(p, request, NONE);
}

/* Events. */

static void source_event(Play *p, int64_t s)
{
    const Source *source = &p->source[s];
    int64_t j = take(p, source->class);
    schedule(p, s, p->now + sample(p, p->classes * p->stations + p->classes + s));
    if (j != NONE)
        go_on(p, j, source->station);
}

static void job_event(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    int64_t q = job->queue;
    if (q == COMING && p->class[job->class].waits) {
        think(p, j);
        return;
    }
    if (q >= 0 && p->station[p->home[q]].interrupts)
        take_from_service(p, q, j);
    if (job->request != NONE)
        finish_part(p, j);
    else
        go_on(p, j, NONE);
}

static void queue_event(Play *p, int64_t q)
{
    count(p, q);
    if (p->queue[q].first == NONE)
        return;
    int64_t j = pop(p, &p->queue[q]);
    if (p->job[j].request != NONE)
        finish_part(p, j);
    else
        go_on(p, j, NONE);
}

/* New jobs that one event may need: one that comes, and the parts of requests that go on: of its
   own job, and of one that each region admits. */
static int64_t most_new(const Play *p)
{
    int64_t parts = 0;
    for (ptrdiff_t k = 0; k < p->stations; k++) {
        int64_t own = 0;
        for (int64_t b = 0; b < p->station[k].branches; b++)
            own += p->branch[p->station[k].branch + b].parts;
        parts = own > parts ? own : parts;
    }
    return 1 + parts * (2 + p->gates);
}

static int64_t played(Play *p, double until, int64_t most)
{
    Clock *clock = p->clock;
    int64_t room = p->jobs - most_new(p);
    for (; most > 0; most--) {
        if (clock->size == 0 || p->event[0].time > until)
            return DONE;
        if (clock->jobs > room)
            return CROWDED;
        if (clock->kept && p->journeys - clock->recorded < 2)
            return RECORDED;
        int64_t owner = p->event[0].owner;
        clock->still = p->event[0].time > p->now ? 0 : clock->still + 1;
        if (clock->still > STILL)
            return ENDLESS;
        p->now = p->event[0].time;
        clock->events++;
        if (owner < p->sources) {
            source_event(p, owner);
            continue;
        }
        cancel(p, owner);
        if (owner < p->sources + p->queues)
            queue_event(p, owner - p->sources);
        else
            job_event(p, owner - p->sources - p->queues);
    }
    return MORE;
}

/* Rows of an argument that is an array of structs; -1 if it does not hold whole ones. */
#define ROWS(number, type) \
    (given[number].counts.size * 8 % (ptrdiff_t)sizeof(type) \
         ? -1 : given[number].counts.size * 8 / (ptrdiff_t)sizeof(type))

/* Play until a time, or so many events. */
const char *play(const Argument *given)
{
    double until = given[21].number;
    Play p = {
        .station = (const void *)given[0].counts.at, .stations = ROWS(0, Station),
        .class = (const void *)given[1].counts.at, .classes = ROWS(1, Class),
        .source = (const void *)given[2].counts.at, .sources = ROWS(2, Source),
        .law = (const void *)given[3].counts.at, .laws = ROWS(3, Law),
        .row = given[4].counts.at, .rows = given[4].counts.size - 1,
        .way = (const void *)given[5].counts.at, .ways = ROWS(5, Way),
        .speed = given[6].numbers.at, .speeds = given[6].numbers.size,
        .pace = given[7].numbers.at, .paces = given[7].numbers.size,
        .visits = given[8].numbers.at,
        .branch = (const void *)given[9].counts.at, .branches = ROWS(9, Branch),
        .home = given[10].counts.at, .queues = ROWS(12, Queue),
        .clock = (void *)given[11].counts.at,
        .queue = (void *)given[12].counts.at,
        .job = (void *)given[13].counts.at, .jobs = ROWS(13, Job),
        .server = given[14].counts.at,
        .at = given[15].counts.at, .owners = given[15].counts.size,
        .event = (void *)given[16].counts.at, .events = ROWS(16, Event),
        .stream = (void *)given[17].counts.at, .streams = ROWS(17, Stream),
        .gate = (void *)given[18].counts.at, .gates = ROWS(18, Gate),
        .crowd = (void *)given[19].counts.at,
        .journey = (void *)given[20].counts.at, .journeys = ROWS(20, Journey),
    };
    if (ROWS(11, Clock) != 1 || given[10].counts.size != p.queues || p.sources < 0 ||
           given[14].counts.size != p.paces || ROWS(19, Crowd) != p.classes || p.ways < 0 ||
           given[8].numbers.size != p.classes * p.stations || p.branches < 0 || p.gates < 0 ||
           p.journeys < 0 || p.jobs < 1)
        return "play: sizes of the arrays";
    const char *wrong = wrong_play(&p);
    if (wrong)
        return wrong;
    p.now = p.clock->now;
    p.clock->reason = played(&p, until, given[22].count);
    if (p.clock->reason == DONE && until > p.now) {
        p.now = until;
        for (ptrdiff_t q = 0; q < p.queues; q++)
            count(&p, q);
        for (ptrdiff_t g = 0; g < p.gates; g++)
            count_gate(&p, &p.gate[g]);
    }
    p.clock->now = p.now;
    return NULL;
}
