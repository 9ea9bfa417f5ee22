/* Steps of an absorbing Markov chain: headway.queueing.times.uniformisation. */
#include <string.h>

#include "kernels.h"

/* Write the probability that leaves at each step, until little is left inside, but not before the least
   number of steps. */
const char *absorbing_steps(const Argument *given)
{
    const int64_t *start = given[0].counts.at, *source = given[1].counts.at;
    const double *chance = given[2].numbers.at, *share = given[3].numbers.at;
    double *inside = given[4].numbers.at, *after = given[5].numbers.at;
    double *left = given[6].numbers.at;
    ptrdiff_t states = given[4].numbers.size, moves = given[1].counts.size;
    int64_t step = 0, most = given[6].numbers.size;
    if (states < 1 || given[0].counts.size != states + 1 || given[2].numbers.size != moves ||
        given[3].numbers.size != states || given[5].numbers.size != states || most < 1 ||
        given[9].counts.size != 1)
        return "absorbing_steps: sizes of the arrays";
    if (start[0] != 0 || start[states] != moves)
        return "absorbing_steps: moves into each state";
    for (ptrdiff_t n = 0; n < states; n++)
        if (start[n + 1] < start[n])
            return "absorbing_steps: moves into each state";
    for (ptrdiff_t n = 0; n < moves; n++)
        if (source[n] < 0 || source[n] >= states)
            return "absorbing_steps: moves between the states";
    double sum = 0, leaves = 0;
    for (ptrdiff_t n = 0; n < states; n++) {
        sum += inside[n];
        leaves += share[n] * inside[n];
    }
    for (; step < most && (step < given[8].count || sum > given[7].number); step++) {
        left[step] = leaves;
        sum = leaves = 0;
        for (ptrdiff_t n = 0; n < states; n++) {
            double into = 0;
            for (int64_t m = start[n]; m < start[n + 1]; m++)
                into += chance[m] * inside[source[m]];
            after[n] = into;
            sum += into;
            leaves += share[n] * into;
        }
        double *before = inside;
        inside = after;
        after = before;
    }
    if (step > 0) /* both arrays hold the last state */
        memcpy(after, inside, (size_t)states * sizeof(double));
    *given[9].counts.at = step;
    return NULL;
}
