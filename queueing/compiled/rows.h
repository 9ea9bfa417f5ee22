/* Rows that the event loops share: headway.queueing.playing.rows, with fields in the same order. */
#ifndef HEADWAY_ROWS_H
#define HEADWAY_ROWS_H

#include "kernels.h"

enum { NONE = -1 }; /* no job, queue, region or server */
enum { CONSTANT, EXPONENTIAL, GAMMA, HYPEREXPONENTIAL, TRACE, RATES, LAWS };

typedef struct { int64_t kind; double first, second, third, shift; } Law;
typedef struct { double time; int64_t number, owner; } Event;
typedef struct { int64_t key, next; } Stream;

/* Whether an event comes before another: by time, then by number. */
INLINED int sooner(const Event *one, const Event *other)
{
    return one->time < other->time || (one->time == other->time && one->number < other->number);
}

/* Number of rows in an argument that is an array of structs; -1 if it is not a whole number. */
#define ROWS(number, type) \
    (given[number].counts.size * 8 % (ptrdiff_t)sizeof(type) \
         ? -1 : given[number].counts.size * 8 / (ptrdiff_t)sizeof(type))

#define OUTSIDE(value, low, high) ((value) < (low) || (value) >= (high))

#endif
