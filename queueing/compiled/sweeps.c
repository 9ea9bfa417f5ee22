/* Gauss-Seidel sweeps over the balance equations of a Markov chain: headway.queueing.markov.sweeps. */
#include "kernels.h"

static void balance(const Argument *given, ptrdiff_t state)
{
    const int64_t *start = given[0].counts.at, *source = given[1].counts.at;
    const double *flow = given[2].numbers.at;
    double *share = given[4].numbers.at, into = 0;
    for (int64_t n = start[state]; n < start[state + 1]; n++)
        into += flow[n] * share[source[n]];
    share[state] = into / given[3].numbers.at[state];
}

/* Balance one state after another, from first to last and back, a given number of times. */
const char *balancing_sweeps(const Argument *given)
{
    const int64_t *start = given[0].counts.at;
    ptrdiff_t states = given[4].numbers.size, moves = given[1].counts.size;
    if (states < 1 || given[0].counts.size != states + 1 || given[2].numbers.size != moves ||
        given[3].numbers.size != states)
        return "balancing_sweeps: sizes of the arrays";
    if (start[0] != 0 || start[states] != moves)
        return "balancing_sweeps: moves into each state";
    for (ptrdiff_t n = 0; n < states; n++)
        if (start[n + 1] < start[n])
            return "balancing_sweeps: moves into each state";
    for (ptrdiff_t n = 0; n < moves; n++)
        if (given[1].counts.at[n] < 0 || given[1].counts.at[n] >= states)
            return "balancing_sweeps: moves between the states";
    for (int64_t k = 0; k < given[5].count; k++) {
        for (ptrdiff_t n = 0; n < states; n++)
            balance(given, n);
        for (ptrdiff_t n = states - 1; n >= 0; n--)
            balance(given, n);
    }
    return NULL;
}
