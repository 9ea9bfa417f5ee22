/* The score, which does not change while it is played, and the state, which does.

   Each struct is a row of an array, with the fields of the class of its name in
   headway.models.simulating.playing.rows, in the same order. */
#ifndef HEADWAY_EVENTS_H
#define HEADWAY_EVENTS_H

#include "rows.h"

enum { THINKING = -1, COMING = -2, AT_GATE = -3, UNUSED = -4, ASKING = -5, AWAY = -6 };
                                                           /* where a job is if it is at no queue */
enum { AT_ONCE, IN_TURN, RANKED, AT_RANDOM, SHARED, FORK, ORDERS };
enum { LOST, AFTER_SERVICE, REPETITIVE };
enum { RANDOM, SHORTEST, TWO_CHOICES, ROUND_ROBIN, CHOICES };
enum { CLOSED, OPEN, HALF_OPEN };                           /* a circuit breaker */
enum { DONE, MORE, CROWDED, RECORDED, ENDLESS };           /* why a call stops */

/* The score */

typedef struct {
    int64_t queue, queues, choice; /* its queues: the first, their number, and how a job chooses */
    int64_t order, interrupts;     /* the discipline */
    int64_t servers, places;       /* of each queue */
    int64_t blocking, region;      /* what happens to a job that finds it full; its region */
    int64_t speed, speeds;         /* where its speeds by number present begin, and how many there are */
    int64_t pace, any_server;      /* where the speeds of its unequal servers begin; which one is taken */
    int64_t branch, branches;      /* of a fork: where its branches begin, and how many there are */
    int64_t needed;                /* parts that must finish */
    double crew;                   /* most jobs that are counted as in service */
    double share, period;          /* of a quota; without a period there is none */
    double oldest;                 /* time since its request after which a job is dropped */
    double by_turn, by_priority, by_work;       /* first key of a rank, a sum of these */
    double then_turn, then_priority, then_work; /* and its second */
} Station;

typedef struct {
    int64_t closed, waits, rounds, priority;
    int64_t asks, impatient, notices, retries; /* of clients who may give up */
    int64_t outcome, outcomes;                 /* of a breaker: where its outcomes begin, and how many */
    int64_t opens, probes, reopens;            /* failures of these, or of the probes, that open it */
    double timeout, returns, budget, purse, factor, jitter, open_for;
} Class;
typedef struct {
    int64_t class, station; /* no station: where its class enters */
    int64_t size, sizes;    /* of batches: where their sizes begin, and how many; none means single jobs */
    double more;            /* or geometric: the probability that one more job arrives with them */
} Source;
typedef struct { double chance; int64_t class, station; } Way; /* cumulative; no station: the job leaves */
typedef struct { int64_t station, parts; } Branch;
typedef struct { double chance; int64_t jobs; } Size; /* of a batch; cumulative */

/* The state */

typedef struct {
    double now;
    int64_t events, scheduled, visits; /* counts so far: events played, events scheduled, visits begun */
    int64_t size;                      /* events in the calendar */
    int64_t unused;                    /* first job of the pool that is not in use */
    int64_t jobs;                      /* in use */
    int64_t kept, recorded;            /* whether journeys are recorded, and how many have been */
    int64_t still;                     /* events since the clock last moved */
    int64_t reason;                    /* why the call stopped */
} Clock;

typedef struct {
    int64_t present, serving, waiting; /* jobs: all; at servers; in the line */
    int64_t first, last;               /* the line, or the first of a heap */
    int64_t served_first;              /* jobs that may be interrupted; the heap of jobs that share */
    int64_t held;                      /* jobs here that are held up by full stations */
    int64_t held_first, held_last;     /* jobs elsewhere that wait for a place here */
    int64_t come, served, lost, gone;  /* gone from the line, but still with a place in it */
    double since, each;                /* time up to which it is counted; service that every sharer has had */
    double rest, worked;               /* of a quota: the current period, and the work done in it */
    double present_area, used_area, held_area, stayed, allotted;
} Queue;

typedef struct {
    int64_t class, born;               /* now, and when its journey began */
    int64_t begun, number, round;      /* its journey: whether it has one, its number, the place in it */
    int64_t queue, target, anew;       /* where it is, where it goes, and whether on a new journey */
    int64_t held, server;
    int64_t next, previous, child;     /* in lines, lists and heaps */
    int64_t turn, visit;               /* number of its arrival here, and of its visit among all */
    int64_t request, asked, left;      /* of a part: its request, and that visit; parts to do */
    int64_t peer, entering;            /* its client, or its attempt; where a client asks again */
    int64_t lined, waited;             /* whether it is in a line now; whether it ever was */
    double began, came, work, spent, key, second;
} Job;

typedef struct {
    int64_t limit, inside, waiting, first, last, entered;
    double since, waiting_area, inside_area, full;
} Gate;
typedef struct {
    int64_t started, ended, lost, requests, attempts, withdrawn, late, given_up;
    int64_t breaker, phase, passed, told, failed, place; /* of a breaker, in its present phase */
    int64_t openings, refused;
    double taken, tokens, useful, wasted;
    double until, since, open; /* when it ends to be open; time up to which it is counted; time open */
} Crowd;
typedef struct { int64_t class; double time; } Journey;

typedef struct {
    const Station *station;
    const Class *class;
    const Source *source;
    const Law *law;
    const int64_t *row, *home;
    const Way *way;
    const double *speed, *pace, *visits, *table;
    const Branch *branch;
    const Size *size;
    Clock *clock;
    Queue *queue;
    Job *job;
    int64_t *server, *at; /* the job at each unequal server; the place of each owner's event */
    Event *event;
    Stream *stream;
    Gate *gate;
    Crowd *crowd;
    Journey *journey;
    int64_t *left;    /* at each source: jobs of its batch still to come */
    int64_t *outcome; /* of the last attempts of each class with a breaker: whether they failed */
    ptrdiff_t stations, classes, sources, laws, rows, ways, speeds, paces, branches, sizes, tables;
    ptrdiff_t queues, jobs, owners, events, streams, gates, journeys, outcomes;
    double now;
    int hole; /* whether the top of the calendar is free */
} Play;

/* What is wrong with a score or a state, if anything is. */
const char *wrong_play(const Play *p);

#endif
