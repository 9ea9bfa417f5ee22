/* Lines of jobs, and pairing heaps of them (Fredman and others, Algorithmica 1, 1986) ordered by key,
   second key and turn. Static functions; include after the definitions of Play, Job and Queue, which
   hold the links and keys of jobs, and the top of a queue's heap. */
#ifndef HEADWAY_LINES_H
#define HEADWAY_LINES_H

#include "rows.h"

static void append(Play *p, int64_t *first, int64_t *last, int64_t j)
{
    p->job[j].next = NONE;
    if (*first == NONE || *last == NONE)
        *first = j;
    else
        p->job[*last].next = j;
    *last = j;
}

static int64_t removed(Play *p, int64_t *first, int64_t *last, int64_t place)
{
    int64_t before = NONE, j = *first;
    for (; place > 0 && p->job[j].next != NONE; place--) {
        before = j;
        j = p->job[j].next;
    }
    int64_t next = p->job[j].next;
    if (before == NONE)
        *first = next;
    else
        p->job[before].next = next;
    if (next == NONE)
        *last = before;
    p->job[j].next = NONE;
    return j;
}

static int precedes(const Job *one, const Job *other)
{
    if (one->key != other->key)
        return one->key < other->key;
    if (one->second != other->second)
        return one->second < other->second;
    return one->turn < other->turn;
}

static int64_t merged(Play *p, int64_t one, int64_t other)
{
    if (one == NONE || other == NONE)
        return one == NONE ? other : one;
    if (precedes(&p->job[other], &p->job[one])) {
        int64_t first = other;
        other = one;
        one = first;
    }
    p->job[other].next = p->job[one].child;
    p->job[one].child = other;
    return one;
}

static void push(Play *p, int64_t *heap, int64_t j)
{
    p->job[j].next = p->job[j].child = NONE;
    *heap = merged(p, *heap, j);
}

static int64_t pop(Play *p, int64_t *heap)
{
    int64_t first = *heap, each = p->job[first].child, pairs = NONE;
    while (each != NONE) {
        int64_t one = each, other = p->job[one].next;
        each = other == NONE ? NONE : p->job[other].next;
        one = merged(p, one, other);
        p->job[one].next = pairs;
        pairs = one;
    }
    *heap = NONE;
    while (pairs != NONE) {
        int64_t next = p->job[pairs].next;
        *heap = merged(p, *heap, pairs);
        pairs = next;
    }
    if (*heap != NONE)
        p->job[*heap].next = NONE;
    p->job[first].child = NONE;
    return first;
}

#endif
