/* Checks of a score and a state: every size and every index, once for each call of `play`, so that no
   memory outside the arrays is touched, whatever they say. */
#include <math.h>

#include "events.h"

#define REFUSE(wrong, words) \
    do { \
        if (wrong) \
            return "play: " words; \
    } while (0)

static const char *wrong_sizes(const Play *p)
{
    REFUSE(p->stations < 1 || p->classes < 1 || p->queues < 1, "stations, classes and queues");
    REFUSE(p->laws != p->classes * p->stations + 3 * p->classes + p->sources,
           "a law for each sample");
    REFUSE(p->rows != p->classes * p->stations + p->classes, "a row for each class and station");
    REFUSE(p->streams != p->laws + p->rows + p->classes + 2 * p->stations + p->sources,
           "streams");
    REFUSE(p->owners != p->sources + p->queues + p->jobs || p->events != p->owners, "owners");
    REFUSE(p->clock->kept && p->journeys < 2, "room for journeys");
    return NULL;
}

static const char *wrong_station(const Play *p, ptrdiff_t k)
{
    const Station *s = &p->station[k];
    REFUSE(OUTSIDE(s->order, 0, ORDERS) || OUTSIDE(s->choice, 0, CHOICES), "order of service");
    REFUSE(OUTSIDE(s->queue, 0, p->queues) || OUTSIDE(s->queues, 1, p->queues - s->queue + 1),
           "queues of a station");
    for (int64_t q = s->queue; q < s->queue + s->queues; q++)
        REFUSE(p->home[q] != k, "the station of a queue");
    REFUSE(OUTSIDE(s->region, NONE, p->gates), "region of a station");
    REFUSE(OUTSIDE(s->speed, 0, p->speeds + 1) || OUTSIDE(s->speeds, 0, p->speeds - s->speed + 1),
           "speeds of a station");
    REFUSE(s->order == SHARED && (s->speeds < 1 || s->servers < 1), "speeds of a station");
    REFUSE(s->pace != NONE && (OUTSIDE(s->pace, 0, p->paces) || s->queues != 1 ||
                               OUTSIDE(s->servers, 1, p->paces - s->pace + 1)), "unequal servers");
    REFUSE(s->branches && (s->order != FORK || OUTSIDE(s->branch, 0, p->branches) ||
                           OUTSIDE(s->branches, 0, p->branches - s->branch + 1)), "branches");
    return NULL;
}

/* Whether the tables hold all numbers of a law that keeps them there. */
static int no_table(const Play *p, const Law *law)
{
    int traced = law->kind == TRACE, rated = law->kind == RATES;
    double room = (double)p->tables;
    if (!traced && !rated)
        return 0;
    if (!(law->first >= 0 && law->first < room && law->second >= 1 && law->second <= room))
        return 1;
    int64_t first = (int64_t)law->first, count = (int64_t)law->second;
    if (first + (rated ? 2 * count + 1 : count) > p->tables)
        return 1;
    const double *rate = p->table + first + count;
    double most = 0;
    for (int64_t k = 0; rated && k < count; k++) {
        if (!(rate[k] >= 0 && rate[k] < HUGE_VAL))
            return 1;
        most = rate[k] > most ? rate[k] : most;
    }
    return rated && !(most > 0 && rate[count] > 0 && rate[count] < HUGE_VAL && law->third > 0 &&
                      law->third < HUGE_VAL);
}

static const char *wrong_source(const Play *p, const Source *s)
{
    REFUSE(OUTSIDE(s->class, 0, p->classes) || OUTSIDE(s->station, NONE, p->stations), "sources");
    REFUSE(!(s->more >= 0 && s->more < 1), "sizes of batches");
    REFUSE(s->sizes && (OUTSIDE(s->size, 0, p->sizes) ||
                        OUTSIDE(s->sizes, 1, p->sizes - s->size + 1)), "sizes of batches");
    return NULL;
}

static int wrong_clients(const Class *c)
{
    int wrong = c->retries < 0 || !(c->timeout >= 0) || !(c->returns >= 0) || !(c->budget >= 0);
    return wrong || !(c->purse >= 0) || !(c->factor >= 0) || !(c->jitter >= 0 && c->jitter <= 1) ||
           (c->asks && c->closed);
}

/* Whether a breaker is wrong, or its outcomes are not all there. */
static int wrong_breaker(const Play *p, const Class *c)
{
    return OUTSIDE(c->outcome, 0, p->outcomes + 1) ||
           OUTSIDE(c->outcomes, 0, p->outcomes - c->outcome + 1) || !(c->open_for >= 0) ||
           (c->outcomes && (c->opens < 1 || c->probes < 1 || c->reopens < 1));
}

static const char *wrong_score(const Play *p)
{
    const char *wrong = wrong_sizes(p);
    for (ptrdiff_t q = 0; !wrong && q < p->queues; q++)
        REFUSE(OUTSIDE(p->home[q], 0, p->stations), "the station of a queue");
    for (ptrdiff_t k = 0; !wrong && k < p->stations; k++)
        wrong = wrong_station(p, k);
    if (wrong)
        return wrong;
    for (ptrdiff_t q = 0; q < p->queues; q++)
        REFUSE(OUTSIDE(q - p->station[p->home[q]].queue, 0, p->station[p->home[q]].queues),
               "the station of a queue");
    for (ptrdiff_t b = 0; b < p->branches; b++)
        REFUSE(OUTSIDE(p->branch[b].station, 0, p->stations) || p->branch[b].parts < 0 ||
               p->branch[b].parts > p->station[p->branch[b].station].queues ||
               p->station[p->branch[b].station].order == FORK, "branches");
    for (ptrdiff_t s = 0; !wrong && s < p->sources; s++)
        wrong = wrong_source(p, &p->source[s]);
    if (wrong)
        return wrong;
    for (ptrdiff_t c = 0; c < p->classes; c++)
        REFUSE(wrong_clients(&p->class[c]) || wrong_breaker(p, &p->class[c]), "clients of a class");
    for (ptrdiff_t z = 0; z < p->sizes; z++)
        REFUSE(p->size[z].jobs < 1, "sizes of batches");
    for (ptrdiff_t r = 0; r < p->laws; r++)
        REFUSE(OUTSIDE(p->law[r].kind, 0, LAWS) || no_table(p, &p->law[r]), "kinds of law");
    for (ptrdiff_t v = 0; v < p->classes * p->stations; v++)
        REFUSE(!(p->visits[v] >= 0 && p->visits[v] < 1e15), "visits");
    REFUSE(p->row[0] != 0 || p->row[p->rows] != p->ways, "routes");
    for (ptrdiff_t r = 0; r < p->rows; r++)
        REFUSE(OUTSIDE(p->row[r], 0, p->row[r + 1] + 1), "routes");
    for (ptrdiff_t w = 0; w < p->ways; w++)
        REFUSE(OUTSIDE(p->way[w].class, 0, p->classes) ||
               OUTSIDE(p->way[w].station, NONE, p->stations), "routes");
    return NULL;
}

static int no_job(const Play *p, int64_t j)
{
    return OUTSIDE(j, NONE, p->jobs);
}

static const char *wrong_state(const Play *p)
{
    const Clock *c = p->clock;
    REFUSE(OUTSIDE(c->size, 0, p->events + 1) || no_job(p, c->unused) || c->jobs < 0 ||
           OUTSIDE(c->recorded, 0, p->journeys + 1), "the clock");
    for (ptrdiff_t q = 0; q < p->queues; q++) {
        const Queue *s = &p->queue[q];
        REFUSE(no_job(p, s->first) || no_job(p, s->last) || no_job(p, s->served_first) ||
               no_job(p, s->held_first) || no_job(p, s->held_last), "jobs of a queue");
    }
    for (ptrdiff_t j = 0; j < p->jobs; j++) {
        const Job *s = &p->job[j];
        const Station *at = s->queue < 0 || s->queue >= p->queues
                                ? NULL : &p->station[p->home[s->queue]];
        REFUSE(no_job(p, s->next) || no_job(p, s->previous) || no_job(p, s->child) ||
               no_job(p, s->request) || no_job(p, s->peer) || OUTSIDE(s->class, 0, p->classes) ||
               OUTSIDE(s->born, 0, p->classes) || OUTSIDE(s->queue, AWAY, p->queues) ||
               OUTSIDE(s->entering, NONE, p->stations) || (s->lined && s->queue < 0 && s->queue != UNUSED) ||
               OUTSIDE(s->target, NONE, p->queues) || s->round < 0 ||
               OUTSIDE(s->server, NONE, at && at->pace != NONE ? at->servers : 0), "jobs");
    }
    for (ptrdiff_t b = 0; b < p->classes; b++)
        REFUSE(OUTSIDE(p->crowd[b].place, 0, p->class[b].outcomes ? p->class[b].outcomes : 1),
               "outcomes of attempts");
    for (ptrdiff_t k = 0; k < p->paces; k++)
        REFUSE(no_job(p, p->server[k]), "jobs at servers");
    for (ptrdiff_t e = 0; e < c->size; e++)
        REFUSE(OUTSIDE(p->event[e].owner, 0, p->owners) || p->at[p->event[e].owner] != e, "events");
    for (ptrdiff_t o = 0; o < p->owners; o++)
        REFUSE(OUTSIDE(p->at[o], NONE, c->size), "places of events");
    for (ptrdiff_t s = 0; s < p->sources; s++)
        REFUSE(p->left[s] < 0, "jobs of batches");
    for (ptrdiff_t s = 0; s < p->streams; s++)
        REFUSE(p->stream[s].next < 0, "streams");
    for (ptrdiff_t g = 0; g < p->gates; g++)
        REFUSE(no_job(p, p->gate[g].first) || no_job(p, p->gate[g].last), "jobs at gates");
    return NULL;
}

const char *wrong_play(const Play *p)
{
    const char *wrong = wrong_score(p);
    return wrong ? wrong : wrong_state(p);
}
