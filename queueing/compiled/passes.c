/* What goes round sparse routes: headway.queueing.variability.passes. */
#include <math.h>

#include "kernels.h"

#define LANES 8 /* columns side by side: for speed */

/* Numbers as the twin says; routes of a row are those from its start to that of the next. */
typedef struct {
    ptrdiff_t rows, columns;
    const int64_t *starts, *targets;
    const double *weights, *passing, *first;
    double settled, *x;
} Passes;

/* x = first + passing * (weights x) row by row, in some columns; whether one of them still moves. */
static inline int round_of(const Passes *of, ptrdiff_t column, const int lanes)
{
    double most[LANES] = {0};
    int moves = 0;
    for (ptrdiff_t row = 0; row < of->rows; row++) {
        ptrdiff_t at = row * of->columns + column;
        double sum[LANES] = {0};
        for (int64_t k = of->starts[row]; k < of->starts[row + 1]; k++) {
            const double *from = of->x + of->targets[k] * of->columns + column;
            for (int i = 0; i < lanes; i++)
                sum[i] += of->weights[k] * from[i];
        }
        for (int i = 0; i < lanes; i++) {
            double next = of->first[at + i] + of->passing[at + i] * sum[i];
            double beyond = fabs(next - of->x[at + i]) - of->settled * fabs(next);
            most[i] = most[i] > beyond ? most[i] : beyond;
            of->x[at + i] = next;
        }
    }
    for (int i = 0; i < lanes; i++)
        moves |= most[i] > 0;
    return moves;
}

static inline int settle(const Passes *of, ptrdiff_t column, const int lanes, int64_t most)
{
    int moves = 1;
    for (int64_t n = 0; n < most && moves; n++)
        moves = round_of(of, column, lanes);
    return moves;
}

const char *passing_rounds(const Argument *given)
{
    Passes of = {
        .rows = given[0].counts.size - 1, .starts = given[0].counts.at,
        .targets = given[1].counts.at, .weights = given[2].numbers.at,
        .passing = given[3].numbers.at, .first = given[4].numbers.at,
        .settled = given[5].number, .x = given[7].numbers.at,
    };
    ptrdiff_t routes = given[1].counts.size, size = given[7].numbers.size;
    if (of.rows < 1 || size % of.rows || given[3].numbers.size != size
        || given[4].numbers.size != size || given[2].numbers.size != routes
        || given[8].counts.size != 1)
        return "passing_rounds: rows of numbers, and a weight for each route";
    if (of.starts[0] != 0 || of.starts[of.rows] != routes)
        return "passing_rounds: the routes of each row";
    for (ptrdiff_t row = 0; row < of.rows; row++)
        if (of.starts[row] > of.starts[row + 1])
            return "passing_rounds: the routes of each row";
    for (ptrdiff_t k = 0; k < routes; k++)
        if (of.targets[k] < 0 || of.targets[k] >= of.rows)
            return "passing_rounds: routes between the rows";
    ptrdiff_t column = 0;
    int64_t moves = 0;
    of.columns = size / of.rows;
    for (; column + LANES <= of.columns; column += LANES)
        moves |= settle(&of, column, LANES, given[6].count);
    for (; column < of.columns; column++)
        moves |= settle(&of, column, 1, given[6].count);
    *given[8].counts.at = moves;
    return NULL;
}
