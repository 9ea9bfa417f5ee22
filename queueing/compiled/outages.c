/* Bad states of servers that drop old requests, simulated attempt by attempt
   (headway.queueing.retries.outages). */
#include <math.h>

#include "kernels.h"
#include "rows.h"

typedef struct {
    const Law *law;
    Stream *stream;
    const double *table; /* of laws that are refused here */
    double now;
    Event *event; /* a heap of clients away, by when they ask again; owner: their attempts so far */
    int64_t size, number;
} Play;

#include "chance.h"

enum { GAP, SERVICE, BACKOFF, OWN_LAWS };

static void leave(Play *p, double time, int64_t attempts)
{
    Event event = {time, p->number++, attempts};
    int64_t place = p->size++;
    for (int64_t above; place > 0 && sooner(&event, &p->event[above = (place - 1) / 2]); place = above)
        p->event[place] = p->event[above];
    p->event[place] = event;
}

static Event ask_again(Play *p)
{
    Event first = p->event[0], last = p->event[--p->size];
    int64_t place = 0;
    for (int64_t below; (below = 2 * place + 1) < p->size; place = below) {
        if (below + 1 < p->size && sooner(&p->event[below + 1], &p->event[below]))
            below++;
        if (!sooner(&p->event[below], &last))
            break;
        p->event[place] = p->event[below];
    }
    p->event[place] = last;
    return first;
}

/* Keep a server until a time, where the first of a heap is the next to be free. */
static void occupy(double *free, ptrdiff_t servers, double until)
{
    ptrdiff_t place = 0;
    for (ptrdiff_t below; (below = 2 * place + 1) < servers; place = below) {
        if (below + 1 < servers && free[below + 1] < free[below])
            below++;
        if (free[below] >= until)
            break;
        free[place] = free[below];
    }
    free[place] = until;
}

/* One bad state from a rush on; returns whether it ended before all attempts were used up. */
static int one_bad_state(Play *p, const Argument *given, int64_t *attempts)
{
    const double *by = given[2].numbers.at;
    double timeout = by[0], oldest = by[1], away = by[2], persistence = by[4], factor = by[5];
    double jitter = by[6], retries = by[7], rush = by[8], *free = given[4].numbers.at;
    int64_t more = given[3].counts.at[0], most = given[3].counts.at[1];
    ptrdiff_t servers = given[4].numbers.size, room = given[5].counts.size / 3;
    for (ptrdiff_t k = 0; k < servers; k++)
        free[k] = 0;
    p->size = p->number = 0;
    double next = sample(p, GAP);
    while (*attempts < most && p->size + more < room) {
        int64_t made = 0;
        ++*attempts;
        if (p->size > 0 && p->event[0].time < next) {
            Event client = ask_again(p);
            p->now = client.time, made = client.owner;
        } else {
            p->now = next;
            next += sample(p, GAP);
            for (; more > 0; more--)
                leave(p, p->now + rush * drawn(p, BACKOFF), 0);
        }
        double wait = free[0] - p->now, after = 0;
        if (wait <= 0 && (double)p->size <= away)
            return 1;
        wait = wait > 0 ? wait : 0;
        if (wait <= oldest) {
            double takes = wait + sample(p, SERVICE);
            occupy(free, servers, p->now + takes);
            if (takes <= timeout)
                continue;
            after = timeout;
        } else
            after = wait < timeout ? wait : timeout;
        if ((double)made >= retries || (persistence < 1 && drawn(p, BACKOFF) >= persistence))
            continue;
        double pause = sample(p, BACKOFF);
        if (factor != 1)
            pause *= pow(factor, (double)made);
        if (jitter > 0)
            pause *= 1 + jitter * (2 * drawn(p, BACKOFF) - 1);
        leave(p, p->now + after + pause, made + 1);
    }
    return 0;
}

/* Simulate bad states one after another, until enough of them have ended. */
const char *bad_states(const Argument *given)
{
    Play p = {.law = (const Law *)given[0].counts.at, .stream = (Stream *)given[1].counts.at,
              .event = (Event *)given[5].counts.at};
    double *found = given[6].numbers.at;
    if (ROWS(0, Law) != OWN_LAWS || ROWS(1, Stream) != OWN_LAWS || given[2].numbers.size != 9 ||
        given[3].counts.size != 3 || given[4].numbers.size < 1 || ROWS(5, Event) < 1 ||
        given[6].numbers.size != 4)
        return "bad_states: sizes of the arrays";
    for (int k = 0; k < OWN_LAWS; k++)
        if (OUTSIDE(p.law[k].kind, 0, HYPEREXPONENTIAL))
            return "bad_states: kinds of law";
    const int64_t *count = given[3].counts.at;
    if (OUTSIDE(count[0], 0, ROWS(5, Event)))
        return "bad_states: room for the rush";
    double settled = given[2].numbers.at[3];
    int64_t attempts = 0;
    while (attempts < count[1] && found[1] < count[2] && found[3] < 10 * count[2]) {
        int ends = one_bad_state(&p, given, &attempts);
        if (!ends && attempts < count[1])
            return "bad_states: room for the clients away";
        found[2] += p.now;
        if (p.now > settled) {
            found[0] += p.now - settled;
            found[1] += ends;
        } else
            found[3] += ends;
    }
    return NULL;
}
