/* Steps of the jobs that an attempt meets: headway.queueing.retries.followed. */
#include "kernels.h"

/* An attempt in service, or that waits with so many departures before its turn, less one; by the
   jobs there. */
typedef struct {
    ptrdiff_t jobs, rows, first; /* numbers of jobs; departures; fewest jobs where one waits */
    const double *up, *stays, *beside, *keeps;
    double turn;
} Chain;

/* A step of those that wait, row after row; `there` sums them as they were before it. */
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
        const double *restrict shorter = turn ? behind : now; /* none stand behind the last row */
        for (ptrdiff_t n = low; n < most; n++) {
            double stay = now[n] * c->keeps[n] + now[n - 1] * c->up[n - 1];
            there[n] += now[n];
            next[n] = stay + turn * shorter[n + 1];
        }
        there[most] += now[most];
        next[most] = now[most] * c->keeps[most] + now[most - 1] * c->up[most - 1];
    }
}

/* A step of those in service, some of whose turn came now. */
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

/* Add what is there unanswered after each number of steps, times the chance of so many. */
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
