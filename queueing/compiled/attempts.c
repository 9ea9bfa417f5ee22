/* How the jobs ahead of an attempt change, step by step (headway.queueing.retries.followed), and how
   attempts flow when they are treated as a fluid (headway.queueing.retries.tipping). */
#include <math.h>

#include "kernels.h"

/* Probabilities of an attempt by the number of jobs present: in service, or waiting, where the row is
   the number of departures before its turn, less one. */
typedef struct {
    ptrdiff_t jobs, rows, first; /* numbers of jobs; departures; fewest jobs with which an attempt waits */
    const double *up, *stays, *beside, *keeps;
    double turn;
} Chain;

/* One step of the attempts that wait, row by row; `there` sums them as they were before the step. */
static void wait_on(const Chain *c, const double *waits, double *moved, double *there)
{
    ptrdiff_t most = c->jobs - 1;
    for (ptrdiff_t n = 0; n <= most; n++)
        there[n] = 0;
    for (ptrdiff_t ahead = 0; ahead < c->rows; ahead++) {
        const double *restrict now = waits + ahead * c->jobs;
        const double *restrict behind = now + c->jobs;
        double *restrict next = moved + ahead * c->jobs;
        ptrdiff_t low = c->first + ahead < most ? c->first + ahead : most;
        double turn = ahead + 1 < c->rows ? c->turn : 0;
        const double *restrict shorter = turn ? behind : now; /* nobody is behind the last row */
        for (ptrdiff_t n = low; n < most; n++) {
            double stay = now[n] * c->keeps[n] + now[n - 1] * c->up[n - 1];
            there[n] += now[n];
            next[n] = stay + turn * shorter[n + 1];
        }
        there[most] += now[most];
        next[most] = now[most] * c->keeps[most] + now[most - 1] * c->up[most - 1];
    }
}

/* One step of the attempts in service, including those whose turn came in this step. */
static void serve_on(const Chain *c, const double *served, const double *waits, double *after)
{
    ptrdiff_t most = c->jobs - 1;
    for (ptrdiff_t n = 0; n <= most; n++) {
        after[n] = served[n] * c->stays[n];
        if (n)
            after[n] += served[n - 1] * c->up[n - 1];
        if (n < most) {
            after[n] += served[n + 1] * c->beside[n + 1];
            after[n] += c->turn * waits[n + 1];
        }
    }
}

/* Sum the attempts that are still unanswered after each number of steps, weighted by the probability
   of that number. */
const char *unanswered_steps(const Argument *given)
{
    Chain c = {.jobs = given[0].numbers.size, .first = given[5].count,
               .up = given[0].numbers.at, .stays = given[1].numbers.at,
               .beside = given[2].numbers.at, .keeps = given[3].numbers.at,
               .turn = given[4].number};
    const double *chance = given[6].numbers.at;
    double *served = given[7].numbers.at, *waits = given[8].numbers.at;
    double *after = given[9].numbers.at, *moved = given[10].numbers.at;
    double *there = given[11].numbers.at, *left = given[12].numbers.at;
    if (c.jobs < 2 || given[8].numbers.size % c.jobs || given[8].numbers.size < c.jobs ||
        c.first < 1 || c.first >= c.jobs)
        return "unanswered_steps: jobs, and those that wait";
    c.rows = given[8].numbers.size / c.jobs;
    for (int k = 1; k < 4; k++)
        if (given[k].numbers.size != c.jobs)
            return "unanswered_steps: sizes of the arrays";
    if (given[6].numbers.size < 1 || given[7].numbers.size != c.jobs ||
        given[9].numbers.size != c.jobs || given[10].numbers.size != given[8].numbers.size ||
        given[11].numbers.size != c.jobs || given[12].numbers.size != c.jobs)
        return "unanswered_steps: sizes of the arrays";
    for (ptrdiff_t step = 0; step < given[6].numbers.size; step++) {
        double *turned;
        wait_on(&c, waits, moved, there);
        for (ptrdiff_t n = 0; n < c.jobs; n++)
            left[n] += chance[step] * (served[n] + there[n]);
        serve_on(&c, served, waits, after);
        turned = served, served = after, after = turned;
        turned = waits, waits = moved, moved = turned;
    }
    return NULL;
}

static const double CLOSE = 1e-3; /* waits closer than this share of a service count as equal */

/* Of attempts that arrive together, whose waits are spread evenly between two values: the shares that
   are served too late, and that are dropped. */
static void fails(double wait, double more, const double *queue, double shares[2])
{
    double scale = queue[0], limit = queue[1], served = more != 0 ? (queue[2] - wait) / more : 1;
    served = served < 0 ? 0 : served > 1 ? 1 : served;
    double last = wait + served * more, early = exp((wait < limit ? wait - limit : 0) / scale);
    double late = early;
    if (last - wait >= CLOSE * scale) {
        double rising = exp(((last < limit ? last : limit) - limit) / scale) - early;
        double beyond = last - (wait > limit ? wait : limit);
        late = (scale * rising + (beyond > 0 ? beyond : 0)) / (last - wait);
    }
    shares[0] = served * late;
    shares[1] = 1 - served;
}

/* Follow the fluid of attempts until the time is up, or the queue stays empty. */
const char *flood_steps(const Argument *given)
{
    const double *queue = given[0].numbers.at, *clients = given[1].numbers.at;
    const int64_t *wait = given[2].counts.at;
    double *comes = given[3].numbers.at, *queue_length = given[4].numbers.at;
    double *failing = given[5].numbers.at, there = 0;
    ptrdiff_t retries = given[2].counts.size / 2, steps = given[4].numbers.size, calm = 0;
    ptrdiff_t wide = given[3].numbers.size / (retries + 1), longest = 0;
    if (given[0].numbers.size != 5 || given[1].numbers.size != 4 || given[2].counts.size % 2 ||
        retries < 1 || steps < 1 || given[5].numbers.size != steps || given[6].counts.size != 1 ||
        given[3].numbers.size % (retries + 1))
        return "flood_steps: sizes of the arrays";
    for (ptrdiff_t k = 0; k < 2 * retries; k++) {
        if (wait[k] < 1 || wait[k] > wide)
            return "flood_steps: the waits";
        longest = wait[k] > longest ? (ptrdiff_t)wait[k] : longest;
    }
    if (steps + longest > wide)
        return "flood_steps: room for attempts that are to come";
    double step = queue[3], drains = queue[4];
    double persistence = clients[0], budget = clients[1], tokens = clients[2];
    for (ptrdiff_t t = 0; t < steps && calm <= longest; t++) {
        double total = 0, shares[2];
        for (ptrdiff_t k = 0; k <= retries; k++)
            total += comes[k * wide + t];
        fails(there / drains * step, total / drains * step, queue, shares);
        there = there + total * (1 - shares[1]) - drains;
        there = there > 0 ? there : 0;
        queue_length[t] = there;
        failing[t] = shares[0] + shares[1];
        if (budget < INFINITY) {
            tokens += budget * comes[t];
            tokens = tokens < clients[3] ? tokens : clients[3];
        } else
            tokens = INFINITY;
        for (int way = 0; way < 2; way++) {
            double sum = 0, asked = 0, spent = 0, share = shares[way] * persistence;
            for (ptrdiff_t k = 0; shares[way] != 0 && k < retries; k++) {
                double asks = comes[k * wide + t] * share;
                if (tokens < INFINITY) {
                    sum += asks;
                    double most = sum < tokens ? sum : tokens;
                    asks = most - asked;
                    asked = most;
                    spent += asks;
                }
                comes[(k + 1) * wide + t + wait[way * retries + k]] += asks;
            }
            tokens -= spent;
        }
        calm = there != 0 ? 0 : calm + 1;
        given[6].counts.at[0] = t + 1;
    }
    return NULL;
}
