/* The events of a network, job by job: headway.models.simulating.playing.loop.

   Python allocates the score and the state (events.h), and continues where a call stops: after so
   many events, at a time, or when an array is full. To be read after events.h, chance.h (random
   numbers), calendar.h, lines.h and queues.h (who is served). */
#include "queues.h"

#define STILL 10000000 /* more events than this at one time count as an endless loop */

/* Arrivals and what they cause, such as the parts of a request that forks. */

static void pass(Play *p, int64_t j, int64_t from, int64_t to);

/* Send the parts of a request to different queues of each branch, chosen with equal probability. Each
   part enters regions as a job does. */
static void fork_out(Play *p, const Station *station, int64_t j)
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
                return; /* never: room is made before each event */
            p->job[part].request = j;
            p->job[part].asked = p->job[j].visit;
            pass(p, part, COMING, queue + seen);
            parts--;
        }
    }
}

/* A job arrives at a queue; returns whether it was accepted. */
INLINED int come(Play *p, int64_t j, int64_t q)
{
    if (!arrive(p, j, q))
        return 0;
    if (p->station[p->home[q]].order == FORK)
        fork_out(p, &p->station[p->home[q]], j);
    return 1;
}

/* Regions: jobs that find no place wait outside in order of arrival. */

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
            gate->inside += come(p, j, p->job[j].target);
    }
}

static int64_t region_of(const Play *p, int64_t q)
{
    return p->gates == 0 || q < 0 ? NONE : p->station[p->home[q]].region;
}

static void leave_region(Play *p, int64_t region)
{
    if (region == NONE)
        return;
    count_gate(p, &p->gate[region]);
    p->gate[region].inside--;
    admit(p, &p->gate[region]);
}

/* A job moves to a queue from another one or from outside, through the gates of regions. */
static void pass(Play *p, int64_t j, int64_t from, int64_t to)
{
    int64_t here = region_of(p, from), there = region_of(p, to), anew = p->job[j].anew;
    if (there == NONE || (there == here && !anew))
        come(p, j, to);
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

INLINED Next by_row(Play *p, int64_t class, int64_t row)
{
    int64_t low = p->row[row], end = p->row[row + 1], high = end;
    int sure = low < end && p->way[low].chance >= 1; /* the only route: no random number is drawn */
    double chance = sure ? 0 : drawn(p, p->laws + row);
    while (low < high) { /* the first route whose cumulative probability is larger */
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

/* Visits of a journey to a station: the whole number, and one more with the probability of the rest. */
static int64_t visits_of(const Play *p, int64_t class, int64_t number, int64_t k)
{
    double mean = p->visits[class * p->stations + k], whole = floor(mean);
    uint64_t key = (uint64_t)p->stream[rounds_stream(p, class)].key;
    if (mean == whole)
        return (int64_t)whole;
    return (int64_t)whole +
           (unit(key, (uint64_t)number * (uint64_t)p->stations + (uint64_t)k) < mean - whole);
}

/* Round r = turn x stations + station: the next that a job has to visit, from a given round on. */
static Next by_rounds(const Play *p, int64_t class, int64_t number, int64_t round)
{
    int64_t stations = p->stations;
    for (;;) {
        int64_t turn = round / stations, midway = round % stations;
        for (; round / stations == turn; round++)
            if (visits_of(p, class, number, round % stations) > turn)
                return (Next){.class = class, .station = round % stations, .round = round};
        if (!midway) /* a whole turn without a visit ends the journey */
            return (Next){.class = class, .station = NONE};
    }
}

/* Where the journey with a given number begins, for a class. */
static Next entry(Play *p, int64_t class, int64_t number)
{
    if (p->class[class].rounds)
        return by_rounds(p, class, number, 0);
    return by_row(p, class, p->classes * p->stations + class);
}

INLINED Next onward(Play *p, const Job *job)
{
    if (p->class[job->class].rounds)
        return by_rounds(p, job->class, job->number, job->round + 1);
    return by_row(p, job->class, job->class * p->stations + p->home[job->queue]);
}

/* The shortest of some queues; a random one of several. */
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

/* The shorter of two different queues drawn at random; the first one if they are equally long. */
static int64_t shorter(Play *p, int64_t first, int64_t count, double chance, int64_t k)
{
    int64_t one = (int64_t)(chance * (double)count);
    int64_t other = (int64_t)(drawn(p, choice_stream(p, k)) * (double)(count - 1));
    other += other >= one;
    return first + (p->queue[first + other].present < p->queue[first + one].present ? other : one);
}

/* The queue that a job chooses at a station. */
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
    double time = p->now - (job->peer == NONE ? job->began : p->job[job->peer].began);
    job->begun = 0;
    if (job->peer != NONE && !answer(p, job))
        return;
    crowd->ended++;
    crowd->taken += time;
    if (p->clock->kept)
        p->journey[p->clock->recorded++] = (Journey){job->born, time};
}

static void think(Play *p, int64_t j)
{
    p->job[j].queue = THINKING;
    schedule(p, owner_of_job(p, j),
             p->now + sample(p, thinking_law(p, p->job[j].class)));
}

/* A job leaves; in a closed class it thinks before its next journey. */
static void leave(Play *p, int64_t j, int64_t from)
{
    int64_t here = region_of(p, from);
    if (p->class[p->job[j].class].closed && p->job[j].request == NONE)
        think(p, j);
    else
        drop(p, j);
    leave_region(p, here);
}

/* Move a job to a queue, or out. The place that it leaves goes to the first job held up for it, whose
   own place goes to the next, and so on. */
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

/* Find a place for a job that is present from the start, if the station at which it enters is full. */
static int64_t seat(const Play *p, int64_t target)
{
    for (ptrdiff_t k = 0; k < p->stations && is_full(p, target); k++)
        if (!is_full(p, p->station[k].queue))
            return p->station[k].queue;
    return target;
}

/* Where a job goes next: a station, or out; and whether its journey ends and another begins. The next
   journey begins at once if no time passes between them. */
INLINED Next decided(Play *p, const Job *job, int64_t entering)
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

/* Begin again at the same place, with service or with thinking. */
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

/* What happens to a job whose target is full; 0 if the job goes there. */
INLINED int64_t fate(const Play *p, const Job *job, int64_t target)
{
    if (target == NONE || target == job->queue || job->queue == COMING || !is_full(p, target))
        return 0;
    return p->station[p->home[target]].blocking;
}

/* A job has finished where it is: at a queue, with thinking, or before its first arrival. */
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

/* A part has finished: its request goes on if this was the last part that it needs. */
static void finish_part(Play *p, int64_t part)
{
    int64_t request = p->job[part].request, asked = p->job[part].asked;
    move(p, part, NONE);
    if (p->job[request].visit == asked && --p->job[request].left == 0)
        go_on(p, request, NONE);
}

/* Events. */

/* Time to the next arrival of a source; 0 to the next job of the same batch. */
static double next_arrival(Play *p, int64_t s)
{
    const Source *source = &p->source[s];
    if (p->left[s] > 0) {
        p->left[s]--;
        return 0;
    }
    if (source->sizes || source->more > 0)
        p->left[s] = batch_size(p, s) - 1;
    return sample(p, source_law(p, s));
}

/* Send an attempt for a client, which waits for its answer, unless its breaker refuses that. */
static void ask(Play *p, int64_t c)
{
    Job *client = &p->job[c];
    const Class *class = &p->class[client->class];
    Crowd *crowd = &p->crowd[client->class];
    crowd->attempts++;
    if (class->outcomes && !lets_through(p, class, crowd)) {
        come_back(p, c);
        return;
    }
    client->asked = crowd->phase;
    int64_t j = take(p, client->class);
    if (j == NONE)
        return; /* never: room is made before each event */
    client->queue = ASKING;
    client->visit = p->clock->visits++;
    client->peer = j;
    p->job[j].peer = c;
    p->job[j].asked = client->visit;
    if (class->timeout < HUGE_VAL)
        schedule(p, owner_of_job(p, c), p->now + class->timeout);
    go_on(p, j, client->entering);
}

/* A client arrives that may give up; it adds its share to the tokens for retries. */
static void request(Play *p, int64_t c, int64_t entering)
{
    Job *client = &p->job[c];
    const Class *class = &p->class[client->class];
    Crowd *crowd = &p->crowd[client->class];
    double tokens = crowd->tokens + class->budget;
    crowd->requests++;
    crowd->tokens = tokens < class->purse ? tokens : class->purse;
    client->began = p->now;
    client->left = class->retries;
    client->entering = entering;
    client->key = 1;
    ask(p, c);
}

/* A client's time is up: its patience with an answer, or its pause before a retry. */
static void client_event(Play *p, int64_t c)
{
    const Job *client = &p->job[c];
    if (client->queue == AWAY) {
        ask(p, c);
        return;
    }
    if (p->class[client->class].notices)
        withdraw(p, client->peer);
    disappoint(p, c);
}

static void source_event(Play *p, int64_t s)
{
    const Source *source = &p->source[s];
    int64_t j = take(p, source->class);
    schedule(p, s, p->now + next_arrival(p, s));
    if (j == NONE)
        return;
    if (p->class[source->class].asks)
        request(p, j, source->station);
    else
        go_on(p, j, source->station);
}

static void job_event(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    int64_t q = job->queue;
    if (q == ASKING || q == AWAY) {
        client_event(p, j);
        return;
    }
    if (job->lined) { /* its patience is over */
        p->crowd[job->born].withdrawn++;
        leave_line(p, j);
        fail(p, j);
        return;
    }
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
    if (p->queue[q].served_first == NONE)
        return;
    int64_t j = pop(p, &p->queue[q].served_first);
    if (p->job[j].request != NONE)
        finish_part(p, j);
    else
        go_on(p, j, NONE);
}

/* Most new jobs that one event may need: an arrival, its client, and the parts of requests that go on,
   for its own job and for one admitted to each region. */
static int64_t most_new(const Play *p)
{
    int64_t parts = 0;
    for (ptrdiff_t k = 0; k < p->stations; k++) {
        int64_t own = 0;
        for (int64_t b = 0; b < p->station[k].branches; b++)
            own += p->branch[p->station[k].branch + b].parts;
        parts = own > parts ? own : parts;
    }
    return 2 + parts * (2 + p->gates);
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
        open_hole(p);
        if (owner < p->sources)
            source_event(p, owner);
        else if (owner < p->sources + p->queues)
            queue_event(p, owner - p->sources);
        else
            job_event(p, owner - p->sources - p->queues);
        close_hole(p);
    }
    return MORE;
}

/* Play until a time, or for a number of events. */
const char *play(const Argument *given)
{
    double until = given[25].number;
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
        .home = given[10].counts.at,
        .size = (const void *)given[11].counts.at, .sizes = ROWS(11, Size),
        .table = given[12].numbers.at, .tables = given[12].numbers.size,
        .queues = ROWS(14, Queue),
        .clock = (void *)given[13].counts.at,
        .queue = (void *)given[14].counts.at,
        .job = (void *)given[15].counts.at, .jobs = ROWS(15, Job),
        .server = given[16].counts.at,
        .at = given[17].counts.at, .owners = given[17].counts.size,
        .event = (void *)given[18].counts.at, .events = ROWS(18, Event),
        .stream = (void *)given[19].counts.at, .streams = ROWS(19, Stream),
        .gate = (void *)given[20].counts.at, .gates = ROWS(20, Gate),
        .crowd = (void *)given[21].counts.at,
        .journey = (void *)given[22].counts.at, .journeys = ROWS(22, Journey),
        .left = given[23].counts.at,
        .outcome = given[24].counts.at, .outcomes = given[24].counts.size,
    };
    if (ROWS(13, Clock) != 1 || given[10].counts.size != p.queues || p.sources < 0 ||
           given[16].counts.size != p.paces || ROWS(21, Crowd) != p.classes || p.ways < 0 ||
           given[8].numbers.size != p.classes * p.stations || p.branches < 0 || p.gates < 0 ||
           p.journeys < 0 || p.jobs < 1 || p.sizes < 0 || given[23].counts.size != p.sources)
        return "play: sizes of the arrays";
    const char *wrong = wrong_play(&p);
    if (wrong)
        return wrong;
    p.now = p.clock->now;
    p.clock->reason = played(&p, until, given[26].count);
    if (p.clock->reason == DONE && until > p.now) {
        p.now = until;
        for (ptrdiff_t q = 0; q < p.queues; q++)
            count(&p, q);
        for (ptrdiff_t g = 0; g < p.gates; g++)
            count_gate(&p, &p.gate[g]);
        for (ptrdiff_t c = 0; c < p.classes; c++)
            count_open(&p, &p.crowd[c]);
    }
    p.clock->now = p.now;
    return NULL;
}
