/* Good and bad states of servers whose clients retry, simulated attempt by attempt
   (headway.queueing.retries.lives). */
#include <math.h>

#include "kernels.h"
#include "rows.h"

enum { TIMEOUT, OLDEST, FEW, MANY, LONG, SETTLED, RUSH, PERSISTENCE, FACTOR, JITTER, RETRIES,
       BUDGET, PURSE, TOKENS, WAITING, NUMBERS };

typedef struct {
    const Law *law;
    Stream *stream;
    const double *table; /* of laws that are refused here */
    double now, tokens;
    Event *event; /* a heap of clients away, by when they ask again or notice that they failed */
    int64_t size, number;
    double *begins; /* a ring: when those who wait will begin */
    int64_t first, waiting;
    const double *by; /* numbers */
} Play;

#include "chance.h"

enum { GAP, SERVICE, BACKOFF, OWN_LAWS };

/* A client goes away; its attempts so far are ~owner until it has noticed that the last one failed. */
static void leave(Play *p, double time, int64_t owner)
{
    Event event = {time, p->number++, owner};
    int64_t place = p->size++;
    for (int64_t above; place > 0 && sooner(&event, &p->event[above = (place - 1) / 2]); place = above)
        p->event[place] = p->event[above];
    p->event[place] = event;
}

static Event come_back(Play *p)
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

/* Whether a client whose attempt failed at a time backs off to retry. */
static int retries(Play *p, double time, int64_t made)
{
    const double *by = p->by;
    if ((double)made >= by[RETRIES] || (by[PERSISTENCE] < 1 && drawn(p, BACKOFF) >= by[PERSISTENCE]))
        return 0;
    double pause = sample(p, BACKOFF);
    if (by[FACTOR] != 1)
        pause *= pow(by[FACTOR], (double)made);
    if (by[JITTER] > 0)
        pause *= 1 + by[JITTER] * (2 * drawn(p, BACKOFF) - 1);
    leave(p, time + pause, made + 1);
    return 1;
}

/* Whether an attempt that has to wait finds a place to do so. */
static int finds_place(Play *p, double wait, ptrdiff_t places)
{
    for (; p->waiting > 0 && p->begins[p->first] <= p->now; p->waiting--)
        p->first = (p->first + 1) % places;
    if ((double)p->waiting >= p->by[WAITING])
        return 0;
    p->begins[(p->first + p->waiting++) % places] = p->now + wait;
    return 1;
}

/* An attempt, after so many of the same request; its client notices after some time if it fails. */
static void attempt(Play *p, int64_t made, double wait, const Argument *given)
{
    const double *by = p->by;
    double after = 0;
    if (wait > 0 && by[WAITING] < INFINITY && !finds_place(p, wait, given[5].numbers.size))
        after = 0;
    else if (wait <= by[OLDEST]) {
        double takes = wait + sample(p, SERVICE);
        occupy(given[4].numbers.at, given[4].numbers.size, p->now + takes);
        if (takes <= by[TIMEOUT])
            return;
        after = by[TIMEOUT];
    } else
        after = wait < by[TIMEOUT] ? wait : by[TIMEOUT];
    if (by[BUDGET] < INFINITY)
        leave(p, p->now + after, ~made);
    else
        retries(p, p->now + after, made);
}

/* One state from an empty start or a rush on; whether it ended before all attempts were used up. */
static int one_life(Play *p, const Argument *given, int64_t *left)
{
    const double *by = p->by;
    double *free = given[4].numbers.at;
    int64_t more = given[3].counts.at[0];
    ptrdiff_t room = given[6].counts.size / 3;
    for (ptrdiff_t k = 0; k < given[4].numbers.size; k++)
        free[k] = 0;
    p->size = p->number = p->first = p->waiting = 0;
    p->tokens = by[TOKENS];
    double next = sample(p, GAP);
    while (*left > 0 && p->size + more < room) {
        int64_t made = 0;
        --*left;
        if (p->size > 0 && p->event[0].time < next) {
            Event client = come_back(p);
            p->now = client.time, made = client.owner;
            if (made < 0) {
                p->tokens -= p->tokens >= 1 && retries(p, p->now, ~made);
                continue;
            }
        } else {
            p->now = next;
            next += sample(p, GAP);
            for (; more > 0; more--)
                leave(p, p->now + by[RUSH] * drawn(p, BACKOFF), 0);
        }
        if (made == 0 && by[BUDGET] < INFINITY) {
            p->tokens += by[BUDGET];
            p->tokens = p->tokens < by[PURSE] ? p->tokens : by[PURSE];
        }
        double wait = free[0] - p->now;
        wait = wait > 0 ? wait : 0;
        if ((wait == 0 && (double)p->size <= by[FEW]) || (double)p->size >= by[MANY] || wait >= by[LONG])
            return 1;
        attempt(p, made, wait, given);
    }
    return 0;
}

/* Simulate states one after another, until enough of them have ended. */
const char *lives(const Argument *given)
{
    Play p = {.law = (const Law *)given[0].counts.at, .stream = (Stream *)given[1].counts.at,
              .event = (Event *)given[6].counts.at, .begins = given[5].numbers.at,
              .by = given[2].numbers.at};
    double *found = given[7].numbers.at;
    if (ROWS(0, Law) != OWN_LAWS || ROWS(1, Stream) != OWN_LAWS || given[2].numbers.size != NUMBERS ||
        given[3].counts.size != 3 || given[4].numbers.size < 1 || given[5].numbers.size < 1 ||
        ROWS(6, Event) < 1 || given[7].numbers.size != 4)
        return "lives: sizes of the arrays";
    for (int k = 0; k < OWN_LAWS; k++)
        if (OUTSIDE(p.law[k].kind, 0, HYPEREXPONENTIAL))
            return "lives: kinds of law";
    const int64_t *count = given[3].counts.at;
    if (OUTSIDE(count[0], 0, ROWS(6, Event)))
        return "lives: room for the rush";
    if (p.by[WAITING] < INFINITY && p.by[WAITING] > (double)given[5].numbers.size)
        return "lives: room for those who wait";
    int64_t left = count[1];
    while (left > 0 && found[1] < count[2] && found[3] < 10 * count[2]) {
        int ends = one_life(&p, given, &left);
        if (!ends && left > 0)
            return "lives: room for the clients away";
        found[2] += p.now;
        if (p.now > p.by[SETTLED]) {
            found[0] += p.now - p.by[SETTLED];
            found[1] += ends;
        } else
            found[3] += ends;
    }
    return NULL;
}
