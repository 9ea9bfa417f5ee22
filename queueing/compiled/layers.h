/* The score of a layered system, which does not change while it is played, and the state, which does.

   Each struct is a row of an array, with the fields of the class of its name in
   headway.queueing.layers.states.rows, in the same order. */
#ifndef HEADWAY_LAYERS_H
#define HEADWAY_LAYERS_H

#include "rows.h"

enum { SERVE, WAIT, CALL, SEND, BRANCH, SPAWN, ANSWER, DONE, GATE, TELL, INSTRUCTIONS };
enum { IN_TURN, RANKED, AT_RANDOM, SHARED, ORDERS }; /* who is next at a place */
enum { OVER, MORE, CROWDED, RECORDED, ENDLESS };     /* why a call stops */

/* The score. Places are tasks, whose threads are taken, then processors. */

typedef struct { int64_t kind, place, entry, way, ways, needed, drawn; } Instruction;
typedef struct { double chance; int64_t target; } Way; /* cumulative; an address or an entry */
typedef struct {
    int64_t task, start, rank;
    int64_t clients, thinks;  /* whether its threads are clients, and begin with a think time */
    int64_t meeting, parties; /* to which its requests come, else none; how many a meeting waits for */
} Entry;
typedef struct {
    int64_t order, interrupts, servers;
    int64_t processor, rank, meets;             /* of a task; else none */
    double by_turn, by_priority, by_work;       /* first key of a rank, a sum of these */
    double then_turn, then_priority, then_work; /* and its second */
} Place;

/* Orders in which branches may begin: with any of them, then forwards or backwards from there. */
static inline int64_t orders(const Instruction *i)
{
    return !i->drawn ? 1 : i->ways > 2 ? 2 * i->ways : i->ways;
}

/* The branch that begins at a given place of an order. */
static inline int64_t way_in_order(const Instruction *i, int64_t order, int64_t place)
{
    return i->way + (order < i->ways ? order + place : order - place) % i->ways;
}

/* The state */

typedef struct {
    double now;
    int64_t events, scheduled, spawned; /* counts so far: events played, events scheduled, spawns */
    int64_t size;                       /* events in the calendar */
    int64_t unused, jobs;               /* the first job that is not in use; the number in use */
    int64_t first, last;                /* the line of tokens that can go on now */
    int64_t recorded;                   /* times that ended */
    int64_t still, most_still;          /* instructions since the clock last moved, and their limit */
    int64_t reason;                     /* why the call stopped */
} Clock;

typedef struct {
    int64_t serving, waiting, come;
    int64_t first, last;  /* the line, or the first of a heap */
    int64_t served_first; /* those at servers, where they may be interrupted */
    int64_t met, parties; /* of a task: the first request that has come to its meeting; their number */
    int64_t aside;        /* and the first of those that wait until it is over */
    double since, each;   /* of a shared processor: time up to which it is counted; service of every sharer */
    int64_t used;         /* of a task: its tokens that are served by its processor */
    double used_since, worked;
} Queue;

typedef struct {
    int64_t waiting, first, second; /* requests in the queue; threads before and after the answer */
    int64_t begun, answered, ended;
    double since, waiting_area, first_area, second_area;
} Tally;

/* A request, which becomes the first token of the thread that serves it, or a further token. */
typedef struct {
    int64_t entry, address, thread;
    int64_t caller, source;                 /* who waits for the answer; the entry, from outside */
    int64_t tokens, answered;               /* of a thread */
    int64_t parent, asked;                  /* of a further token: its parent, and the spawn */
    int64_t spawned, left;                  /* its own spawn, and the branches that it waits for */
    int64_t next, previous, child, turn;    /* in lines, lists and heaps */
    double born, work, key, second;
} Job;

typedef struct { int64_t entry; double time; } Journey;

typedef struct {
    const Instruction *instruction;
    const Way *way;
    const Law *law;
    const Entry *entry;
    const Place *place;
    const double *table; /* NULL: no law here has many numbers */
    Clock *clock;
    Queue *queue;
    Tally *tally;
    Job *job;
    int64_t *at;
    Event *event;
    Stream *stream;
    Journey *journey;
    ptrdiff_t instructions, ways, laws, entries, tasks, places;
    ptrdiff_t jobs, owners, events, streams, journeys;
    double now;
    int hole; /* whether the top of the calendar is free */
} Play;

/* What is wrong with a score or a state, if anything is. */
const char *wrong_layers(const Play *p);

/* The same for instructions, entries and places only. */
const char *wrong_program(const Play *p);

#endif
