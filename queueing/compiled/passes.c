/* Flows round sparse routes, iterated until they settle: headway.queueing.variability.passes. */
#include <math.h>

#include "kernels.h"

#define LANES 8 /* columns handled side by side, for speed */
#define LOOK 4  /* rounds between checks of what still moves, for speed */

/* Four columns in one vector, where the compiler has vectors. */
#ifdef __GNUC__
typedef double Wide __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t Moves __attribute__((vector_size(32)));
#define MOVED(moves) ((moves)[0] | (moves)[1] | (moves)[2] | (moves)[3])
#else
typedef double Wide;
typedef int64_t Moves;
#define MOVED(moves) (moves)
#endif
#define PARTS (LANES * sizeof(double) / sizeof(Wide))

/* Arrays as in the Python version; the routes of a row run from its start to that of the next. */
typedef struct {
    ptrdiff_t rows, columns;
    const int64_t *starts, *targets;
    const double *weights, *passing, *first;
    double settled, *x;
} Passes;

/* x = first + passing * (weights x), row by row, in some columns; when checking, returns whether any
   of them still moves, judged by squares. */
static inline int round_of(const Passes *of, ptrdiff_t column, const int looking)
{
    const double squared = of->settled * of->settled;
    Moves moves = (Moves){0};
    for (ptrdiff_t row = 0; row < of->rows; row++) {
        ptrdiff_t at = row * of->columns + column;
        const Wide *first = (const Wide *)(of->first + at);
        const Wide *passing = (const Wide *)(of->passing + at);
        Wide *x = (Wide *)(of->x + at), sum[PARTS] = {(Wide){0}};
        for (int64_t k = of->starts[row]; k < of->starts[row + 1]; k++) {
            const Wide *from = (const Wide *)(of->x + of->targets[k] * of->columns + column);
            for (size_t i = 0; i < PARTS; i++)
                sum[i] += of->weights[k] * from[i];
        }
        for (size_t i = 0; i < PARTS; i++) {
            Wide next = first[i] + passing[i] * sum[i], change = next - x[i];
            if (looking)
                moves |= change * change > squared * (next * next);
            x[i] = next;
        }
    }
    return MOVED(moves) != 0;
}

static inline int settle(const Passes *of, ptrdiff_t column, int64_t most)
{
    for (int64_t n = 1; n <= most; n++) {
        if (n % LOOK && n < most)
            round_of(of, column, 0);
        else if (!round_of(of, column, 1))
            return 0;
    }
    return 1;
}

WIDER const char *passing_rounds(const Argument *given)
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
    of.columns = size / of.rows;
    if (of.columns % LANES)
        return "passing_rounds: eight columns, or a multiple of them";
    *given[8].counts.at = 0;
    for (ptrdiff_t column = 0; column < of.columns; column += LANES)
        *given[8].counts.at |= settle(&of, column, given[6].count);
    return NULL;
}
