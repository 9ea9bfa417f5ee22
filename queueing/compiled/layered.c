/* The events of a layered system, instruction by instruction: headway.queueing.layers.loop.

   Python allocates the score and the state (layers.h), and continues where a call stops: after so
   many events, at a time, or when an array is full. Tokens that can go on stand in a line; the first
   one follows its instructions until one of them takes time or has to wait. */
#include "layers.h"

#include "calendar.h"
#include "chance.h"
#include "lines.h"

/* Owners of events: arrivals at entries, shared places, then jobs. Streams: one for each instruction,
   for each kind of arrival, and for the order at each place. */

static int64_t owner_of_place(const Play *p, int64_t k)
{
    return p->entries + k;
}

static int64_t owner_of_job(const Play *p, int64_t j)
{
    return p->entries + p->places + j;
}

/* The pool of jobs, and the line of those that can go on. */

static int64_t take(Play *p, int64_t entry)
{
    int64_t j = p->clock->unused;
    if (j == NONE)
        return NONE;
    p->clock->unused = p->job[j].next;
    p->clock->jobs++;
    p->job[j] = (Job){.entry = entry, .address = NONE, .thread = j, .caller = NONE, .source = NONE,
                      .parent = NONE, .asked = NONE, .spawned = NONE, .next = NONE,
                      .previous = NONE, .child = NONE};
    return j;
}

static void drop(Play *p, int64_t j)
{
    p->job[j].spawned = NONE;
    p->job[j].next = p->clock->unused;
    p->clock->unused = j;
    p->clock->jobs--;
}

static void ready(Play *p, int64_t j)
{
    append(p, &p->clock->first, &p->clock->last, j);
}

static void go_on(Play *p, int64_t j)
{
    if (p->job[j].address + 1 < p->instructions)
        p->job[j].address++;
    ready(p, j);
}

/* What is counted. */

static void count_tally(Play *p, Tally *tally)
{
    double passed = p->now - tally->since;
    tally->since = p->now;
    tally->waiting_area += passed * (double)tally->waiting;
    tally->first_area += passed * (double)tally->first;
    tally->second_area += passed * (double)tally->second;
}

/* Servers that are busy with a given number of sharers. */
static double busy(const Place *place, int64_t sharers)
{
    return (double)(sharers < place->servers ? sharers : place->servers);
}

static void count_shared(Play *p, int64_t k)
{
    Queue *queue = &p->queue[k];
    double passed = p->now - queue->since;
    queue->since = p->now;
    if (queue->serving > 0)
        queue->each += passed * busy(&p->place[k], queue->serving) / (double)queue->serving;
}

/* Count a task's use of its processor: the service that each of its tokens there has had. */
static void count_used(Play *p, int64_t task)
{
    Queue *queue = &p->queue[task];
    int64_t k = p->place[task].processor;
    double served = p->now;
    if (p->place[k].order == SHARED) {
        count_shared(p, k);
        served = p->queue[k].each;
    }
    queue->worked += (double)queue->used * (served - queue->used_since);
    queue->used_since = served;
}

static void use(Play *p, int64_t j, int64_t more)
{
    int64_t task = p->entry[p->job[j].entry].task;
    count_used(p, task);
    p->queue[task].used += more;
}

static void record(Play *p, int64_t entry, double time)
{
    if (p->clock->recorded < p->journeys)
        p->journey[p->clock->recorded++] = (Journey){entry, time};
}

/* Places: who is served. */

/* When the next of the sharers of a processor finishes. */
static void share_out(Play *p, int64_t k)
{
    Queue *queue = &p->queue[k];
    if (queue->first == NONE) {
        cancel(p, owner_of_place(p, k));
        if (queue->serving == 0)
            queue->each = 0; /* it would lose digits */
        return;
    }
    double left = p->job[queue->first].key - queue->each;
    left = left > 0 ? left : 0;
    double slower = (double)queue->serving / busy(&p->place[k], queue->serving);
    schedule(p, owner_of_place(p, k), p->now + left * slower);
}

/* Requests that meet in a thread: those that have come, and those that wait until they are over. */

/* The request for an entry that has come to its task's meeting, or none. */
static int64_t party(const Play *p, int64_t task, int64_t entry)
{
    int64_t j = p->queue[task].met;
    for (ptrdiff_t n = 0; j != NONE && p->job[j].entry != entry; n++)
        j = n < p->jobs ? p->job[j].next : NONE; /* never cyclic */
    return j;
}

/* Set aside the first in the queue, as long as they are for entries whose requests have come. */
static void set_aside(Play *p, int64_t task)
{
    Queue *queue = &p->queue[task];
    for (ptrdiff_t n = 0; queue->first != NONE && n < p->jobs; n++) {
        if (party(p, task, p->job[queue->first].entry) == NONE)
            return;
        int64_t j = pop(p, &queue->first);
        p->job[j].next = queue->aside;
        queue->aside = j;
    }
}

/* A thread begins a request, or a client its next cycle. */
static void begin(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    const Entry *entry = &p->entry[job->entry];
    Tally *tally = &p->tally[job->entry];
    count_tally(p, tally);
    tally->waiting -= !entry->clients;
    tally->first += !entry->thinks;
    tally->begun++;
    job->address = entry->start;
    job->tokens = 1;
    job->answered = 0;
    if (entry->clients)
        job->born = p->now;
    if (entry->meeting != NONE && p->queue[entry->task].met == NONE) {
        count_tally(p, &p->tally[entry->meeting]);
        p->tally[entry->meeting].first++;
    }
}

static void serve(Play *p, int64_t k, int64_t j)
{
    Job *job = &p->job[j];
    if (k < p->tasks) {
        begin(p, j);
        ready(p, j);
        return;
    }
    if (p->place[k].interrupts) {
        job->previous = NONE;
        job->next = p->queue[k].served_first;
        if (job->next != NONE)
            p->job[job->next].previous = j;
        p->queue[k].served_first = j;
    }
    use(p, j, 1);
    schedule(p, owner_of_job(p, j), p->now + job->work);
}

/* Take a job from the list of those in service, where they may be interrupted. */
static void take_from_service(Play *p, int64_t k, int64_t j)
{
    Job *job = &p->job[j];
    if (job->previous == NONE)
        p->queue[k].served_first = job->next;
    else
        p->job[job->previous].next = job->next;
    if (job->next != NONE)
        p->job[job->next].previous = job->previous;
}

/* The job that has to wait: one that comes, or one that it interrupts, which resumes later. */
static int64_t interrupted(Play *p, int64_t k, int64_t j)
{
    int64_t last = p->queue[k].served_first;
    for (int64_t each = last; each != NONE; each = p->job[each].next)
        if (precedes(&p->job[last], &p->job[each]))
            last = each;
    if (last == NONE || p->job[last].key <= p->job[j].key)
        return j;
    int64_t owner = owner_of_job(p, last);
    if (p->at[owner] != NONE)
        p->job[last].work = p->event[p->at[owner]].time - p->now;
    cancel(p, owner);
    take_from_service(p, k, last);
    use(p, last, -1);
    serve(p, k, j);
    return last;
}

static void rank(const Place *place, Job *job, double priority)
{
    double turn = (double)job->turn;
    job->key = place->by_turn * turn + place->by_priority * priority + place->by_work * job->work;
    job->second =
        place->then_turn * turn + place->then_priority * priority + place->then_work * job->work;
}

static void line_up(Play *p, int64_t k, int64_t j)
{
    const Place *place = &p->place[k];
    Queue *queue = &p->queue[k];
    Job *job = &p->job[j];
    job->turn = queue->come++;
    if (place->order == RANKED) {
        const Entry *entry = &p->entry[job->entry];
        rank(place, job, (double)(k < p->tasks ? entry->rank : p->place[entry->task].rank));
    }
    if (queue->serving < place->servers && !(place->meets && party(p, k, job->entry) != NONE)) {
        queue->serving++;
        serve(p, k, j);
        return;
    }
    if (place->interrupts)
        j = interrupted(p, k, j);
    queue->waiting++;
    if (place->order == RANKED)
        push(p, &queue->first, j);
    else
        append(p, &queue->first, &queue->last, j);
}

static void start_next(Play *p, int64_t k)
{
    const Place *place = &p->place[k];
    Queue *queue = &p->queue[k];
    int64_t chosen = 0;
    queue->serving--;
    if (place->meets)
        set_aside(p, k);
    if (queue->first == NONE || queue->serving >= place->servers)
        return;
    if (place->order == AT_RANDOM) {
        double chance = drawn(p, p->instructions + p->entries + k);
        chosen = (int64_t)(chance * (double)queue->waiting);
    }
    queue->waiting--;
    queue->serving++;
    serve(p, k,
          place->order == RANKED ? pop(p, &queue->first)
                                 : removed(p, &queue->first, &queue->last, chosen));
}

/* A token arrives at a processor, and leaves it. */

static void come(Play *p, int64_t k, int64_t j)
{
    Queue *queue = &p->queue[k];
    if (p->place[k].order != SHARED) {
        line_up(p, k, j);
        return;
    }
    use(p, j, 1);
    p->job[j].turn = queue->come++;
    p->job[j].key = queue->each + p->job[j].work;
    p->job[j].second = 0;
    queue->serving++;
    push(p, &queue->first, j);
    share_out(p, k);
}

static void leave(Play *p, int64_t k, int64_t j)
{
    use(p, j, -1);
    if (p->place[k].order == SHARED) {
        p->queue[k].serving--;
        share_out(p, k);
    } else
        start_next(p, k);
}

/* Instructions; each returns whether its token goes on at once. */

static void ask(Play *p, int64_t entry, int64_t caller, int64_t source, double born)
{
    int64_t j = take(p, entry);
    if (j == NONE)
        return; /* never: there is room before each instruction */
    p->job[j].caller = caller;
    p->job[j].source = source;
    p->job[j].born = born;
    count_tally(p, &p->tally[entry]);
    p->tally[entry].waiting++;
    line_up(p, p->entry[entry].task, j);
}

/* The branch drawn, or none, as the probabilities may sum to less than 1. */
static const Way *way_of(Play *p, int64_t address)
{
    const Instruction *instruction = &p->instruction[address];
    const Way *way = &p->way[instruction->way], *end = way + instruction->ways;
    if (way == end || way->chance >= 1)
        return way == end ? NULL : way;
    double chance = drawn(p, address);
    while (way < end && chance >= way->chance)
        way++;
    return way == end ? NULL : way;
}

static int64_t order_of(Play *p, int64_t address)
{
    int64_t count = orders(&p->instruction[address]);
    return count > 1 ? (int64_t)(drawn(p, address) * (double)count) : 0;
}

static int spawn(Play *p, const Instruction *instruction, int64_t j)
{
    Job *job = &p->job[j];
    job->spawned = p->clock->spawned++;
    job->left = instruction->needed;
    job->next = NONE;
    int64_t order = order_of(p, job->address);
    for (int64_t n = 0; n < instruction->ways; n++) {
        int64_t w = way_in_order(instruction, order, n);
        int64_t branch = take(p, job->entry);
        if (branch == NONE)
            return 0; /* never: there is room before each instruction */
        p->job[branch].address = p->way[w].target;
        p->job[branch].thread = job->thread;
        p->job[branch].parent = j;
        p->job[branch].asked = job->spawned;
        p->job[job->thread].tokens++;
        const Instruction *first = &p->instruction[p->way[w].target];
        if (first->kind == GATE) {
            p->job[branch].left = first->needed;
            p->job[branch].next = job->next;
            job->next = branch;
        } else
            ready(p, branch);
    }
    return 0;
}

/* Gates of one spawn that are still shut stand in a line that begins at its parent. */
static int tell(Play *p, const Instruction *instruction, int64_t j)
{
    int64_t order = order_of(p, p->job[j].address);
    for (int64_t m = 0; m < instruction->ways; m++) {
        int64_t w = way_in_order(instruction, order, m);
        int64_t before = p->job[j].parent, gate = before == NONE ? NONE : p->job[before].next;
        for (int64_t n = 0; gate != NONE && p->job[gate].address != p->way[w].target; n++) {
            before = gate;
            gate = n < p->jobs ? p->job[gate].next : NONE; /* never cyclic */
        }
        if (gate == NONE || --p->job[gate].left != 0)
            continue;
        p->job[before].next = p->job[gate].next;
        go_on(p, gate);
    }
    p->job[j].address++;
    return 1;
}

/* A thread answers its request, or one that it has met, through any of its tokens. */
static int answer(Play *p, int64_t j)
{
    int64_t address = p->job[j].address, own = p->job[j].thread;
    int64_t entry = p->instruction[address].entry;
    int64_t met = entry == NONE ? own : party(p, p->entry[p->job[own].entry].task, entry);
    Job *job = &p->job[met == NONE ? own : met];
    Tally *tally = &p->tally[job->entry];
    int64_t caller = job->caller, source = job->source;
    const Way *onward = way_of(p, address);
    count_tally(p, tally);
    tally->first--;
    tally->second++;
    tally->answered++;
    job->answered = 1;
    job->caller = job->source = NONE;
    p->job[j].address++;
    if (onward)
        ask(p, onward->target, caller, source, job->born);
    else if (caller != NONE)
        go_on(p, caller);
    else if (source != NONE)
        record(p, source, p->now - job->born);
    if (!p->instruction[address].drawn || drawn(p, address) < 0.5)
        return 1;
    ready(p, j);
    return 0;
}

static void end(Play *p, int64_t j)
{
    Tally *tally = &p->tally[p->job[j].entry];
    count_tally(p, tally);
    tally->ended++;
    tally->first -= !p->job[j].answered;
    tally->second -= p->job[j].answered;
}

/* A request has come to a meeting; with the last one the thread goes on for all of them. */
static void meet(Play *p, int64_t j)
{
    const Entry *own = &p->entry[p->job[j].entry];
    Queue *queue = &p->queue[own->task];
    p->job[j].next = queue->met;
    queue->met = j;
    if (++queue->parties < p->entry[own->meeting].parties) {
        start_next(p, own->task);
        return;
    }
    int64_t meeting = take(p, own->meeting);
    if (meeting == NONE)
        return; /* never: there is room before each instruction */
    p->tally[own->meeting].begun++;
    p->job[meeting].address = p->entry[own->meeting].start;
    p->job[meeting].tokens = 1;
    ready(p, meeting);
}

static void release_met(Play *p, int64_t task)
{
    Queue *queue = &p->queue[task];
    int64_t each = queue->met;
    for (ptrdiff_t n = 0; each != NONE && n < p->jobs; n++) { /* never cyclic */
        int64_t j = each;
        each = p->job[j].next;
        end(p, j);
        drop(p, j);
    }
    queue->met = NONE;
    queue->parties = 0;
    for (ptrdiff_t n = 0; queue->aside != NONE && n < p->jobs; n++) {
        int64_t j = queue->aside;
        queue->aside = p->job[j].next;
        push(p, &queue->first, j);
    }
}

/* All tokens of a thread are done: it takes the next request, or, as a client, begins its next cycle. */
static void release(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    const Entry *entry = &p->entry[job->entry];
    Tally *tally = &p->tally[job->entry];
    if (entry->meeting != NONE) {
        meet(p, j);
        return;
    }
    end(p, j);
    if (entry->parties) {
        tally->answered++;
        release_met(p, entry->task);
    }
    if (entry->clients) {
        tally->answered++;
        record(p, job->entry, p->now - job->born);
        begin(p, j);
        ready(p, j);
        return;
    }
    drop(p, j);
    start_next(p, entry->task);
}

static int done(Play *p, int64_t j)
{
    int64_t thread = p->job[j].thread, parent = p->job[j].parent, asked = p->job[j].asked;
    if (j != thread) {
        drop(p, j);
        if (parent != NONE && p->job[parent].spawned == asked && --p->job[parent].left == 0) {
            p->job[parent].spawned = NONE;
            go_on(p, parent);
        }
    }
    if (--p->job[thread].tokens == 0)
        release(p, thread);
    return 0;
}

static int follow(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    if (job->address == NONE) {
        begin(p, j);
        return 1;
    }
    const Instruction *instruction = &p->instruction[job->address];
    const Way *way;
    switch (instruction->kind) {
    case SERVE:
        job->work = sample(p, job->address);
        come(p, instruction->place, j);
        return 0;
    case WAIT:
        schedule(p, owner_of_job(p, j), p->now + sample(p, job->address));
        return 0;
    case CALL:
        ask(p, instruction->entry, j, NONE, 0);
        return 0;
    case SEND:
        job->address++;
        ask(p, instruction->entry, NONE, NONE, 0);
        return 1;
    case BRANCH:
        way = way_of(p, job->address);
        job->address = way ? way->target : p->way[instruction->way + instruction->ways - 1].target;
        return 1;
    case SPAWN:
        return spawn(p, instruction, j);
    case ANSWER:
        return answer(p, j);
    case GATE:
        return 0;
    case TELL:
        return tell(p, instruction, j);
    default:
        return done(p, j);
    }
}

/* Events. */

static void arrival(Play *p, int64_t entry)
{
    schedule(p, entry, p->now + sample(p, p->instructions + entry));
    ask(p, entry, NONE, entry, p->now);
}

static void place_event(Play *p, int64_t k)
{
    count_shared(p, k);
    if (p->queue[k].first == NONE)
        return;
    int64_t j = pop(p, &p->queue[k].first);
    leave(p, k, j);
    go_on(p, j);
}

static void job_event(Play *p, int64_t j)
{
    Job *job = &p->job[j];
    const Entry *entry = &p->entry[job->entry];
    const Instruction *instruction = &p->instruction[job->address < 0 ? 0 : job->address];
    if (instruction->kind == SERVE) {
        if (p->place[instruction->place].interrupts)
            take_from_service(p, instruction->place, j);
        leave(p, instruction->place, j);
    } else if (entry->thinks && job->address == entry->start) {
        count_tally(p, &p->tally[job->entry]);
        p->tally[job->entry].first++;
        job->born = p->now;
    }
    go_on(p, j);
}

static void event(Play *p)
{
    int64_t owner = p->event[0].owner;
    if (p->event[0].time > p->now)
        p->clock->still = 0;
    p->now = p->event[0].time;
    p->clock->events++;
    open_hole(p);
    if (owner < p->entries)
        arrival(p, owner);
    else if (owner < p->entries + p->places)
        place_event(p, owner - p->entries);
    else
        job_event(p, owner - p->entries - p->places);
}

/* Most new jobs that one instruction may need. */
static int64_t most_new(const Play *p)
{
    int64_t most = 1;
    for (ptrdiff_t n = 0; n < p->instructions; n++)
        if (p->instruction[n].kind == SPAWN && p->instruction[n].ways > most)
            most = p->instruction[n].ways;
    return most;
}

/* Play until the calendar or a full array stops it; `on` is the token that goes on. */
static int64_t played(Play *p, double until, int64_t most, int64_t *on)
{
    Clock *clock = p->clock;
    int64_t room = p->jobs - most_new(p);
    for (;;) {
        if (clock->jobs > room)
            return CROWDED;
        if (clock->recorded >= p->journeys)
            return RECORDED;
        if (*on == NONE && clock->first != NONE)
            *on = removed(p, &clock->first, &clock->last, 0);
        if (*on != NONE) {
            if (clock->still++ >= clock->most_still)
                return ENDLESS;
            if (!follow(p, *on))
                *on = NONE;
            continue;
        }
        close_hole(p);
        if (clock->size == 0 || p->event[0].time > until)
            return OVER;
        if (most-- <= 0)
            return MORE;
        event(p);
    }
}

/* Play until a time, or for a number of events. */
const char *play_program(const Argument *given)
{
    double until = given[13].number;
    Play p = {
        .instruction = (const void *)given[0].counts.at, .instructions = ROWS(0, Instruction),
        .way = (const void *)given[1].counts.at, .ways = ROWS(1, Way),
        .law = (const void *)given[2].counts.at, .laws = ROWS(2, Law),
        .entry = (const void *)given[3].counts.at, .entries = ROWS(3, Entry),
        .place = (const void *)given[4].counts.at, .places = ROWS(4, Place),
        .clock = (void *)given[5].counts.at,
        .queue = (void *)given[6].counts.at,
        .tally = (void *)given[7].counts.at,
        .job = (void *)given[8].counts.at, .jobs = ROWS(8, Job),
        .at = given[9].counts.at, .owners = given[9].counts.size,
        .event = (void *)given[10].counts.at, .events = ROWS(10, Event),
        .stream = (void *)given[11].counts.at, .streams = ROWS(11, Stream),
        .journey = (void *)given[12].counts.at, .journeys = ROWS(12, Journey),
    };
    if (p.instructions < 1 || p.ways < 0 || p.entries < 1 || p.places < 1 || p.jobs < 1 ||
        ROWS(5, Clock) != 1 || ROWS(6, Queue) != p.places || ROWS(7, Tally) != p.entries ||
        p.journeys < 1)
        return "play_program: sizes of the arrays";
    while (p.tasks < p.places && p.place[p.tasks].processor != NONE)
        p.tasks++;
    const char *wrong = wrong_layers(&p);
    if (wrong)
        return wrong;
    int64_t on = NONE;
    p.now = p.clock->now;
    p.clock->reason = played(&p, until, given[14].count, &on);
    close_hole(&p);
    if (on != NONE) { /* this token goes on first */
        p.job[on].next = p.clock->first;
        p.clock->first = on;
        if (p.job[on].next == NONE)
            p.clock->last = on;
    }
    if (p.clock->reason == OVER && until > p.now) {
        p.now = until;
        for (ptrdiff_t e = 0; e < p.entries; e++)
            count_tally(&p, &p.tally[e]);
        for (ptrdiff_t t = 0; t < p.tasks; t++)
            count_used(&p, t);
    }
    p.clock->now = p.now;
    return NULL;
}
