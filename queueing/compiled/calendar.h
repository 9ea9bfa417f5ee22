/* The calendar: a heap of events, ordered by time and then by number. Static functions; include after
   the definition of Play, which holds the events, the place of each owner's event, and the counters. */
#ifndef HEADWAY_CALENDAR_H
#define HEADWAY_CALENDAR_H

#include "rows.h"

INLINED void put(Play *p, int64_t place, Event event)
{
    p->event[place] = event;
    p->at[event.owner] = place;
}

INLINED void rise(Play *p, int64_t place, Event event)
{
    while (place > 0) {
        int64_t above = (place - 1) / 2;
        if (!sooner(&event, &p->event[above]))
            break;
        put(p, place, p->event[above]);
        place = above;
    }
    put(p, place, event);
}

INLINED void sink(Play *p, int64_t place, Event event)
{
    int64_t size = p->clock->size;
    for (int64_t below; (below = 2 * place + 1) < size; place = below) {
        if (below + 1 < size && sooner(&p->event[below + 1], &p->event[below]))
            below++;
        if (!sooner(&p->event[below], &event))
            break;
        put(p, place, p->event[below]);
    }
    put(p, place, event);
}

INLINED void schedule(Play *p, int64_t owner, double time)
{
    int64_t place = p->at[owner];
    Event event = {time, p->clock->scheduled++, owner};
    if (place == NONE && p->hole) {
        p->hole = 0;
        sink(p, 0, event);
    } else if (place == NONE)
        rise(p, p->clock->size++, event);
    else if (sooner(&event, &p->event[place]))
        rise(p, place, event);
    else
        sink(p, place, event);
}

static void cancel(Play *p, int64_t owner)
{
    int64_t place = p->at[owner];
    if (place == NONE)
        return;
    p->at[owner] = NONE;
    Event last = p->event[--p->clock->size];
    if (place == p->clock->size)
        return;
    if (sooner(&last, &p->event[place]))
        rise(p, place, last);
    else
        sink(p, place, last);
}

/* The event being played leaves a hole at the top, which the next new event fills. The time left in
   the hole is still the earliest, so the rest of the heap stays in order. */
static void open_hole(Play *p)
{
    p->at[p->event[0].owner] = NONE;
    p->hole = 1;
}

static void close_hole(Play *p)
{
    if (!p->hole)
        return;
    p->hole = 0;
    Event last = p->event[--p->clock->size];
    if (p->clock->size > 0)
        sink(p, 0, last);
}

#endif
