/* Checks of a score and a state of layers: every size and every index, once a call of `play_program`.
   Whatever the arrays say, nothing else is touched. */
#include "layers.h"

#define REFUSE(wrong, words) \
    do { \
        if (wrong) \
            return "play_program: " words; \
    } while (0)

static const char *wrong_instruction(const Play *p, ptrdiff_t n)
{
    const Instruction *i = &p->instruction[n];
    REFUSE(OUTSIDE(i->kind, 0, INSTRUCTIONS), "kinds of instruction");
    REFUSE(i->kind == SERVE && OUTSIDE(i->place, p->tasks, p->places), "processors");
    REFUSE((i->kind == CALL || i->kind == SEND) && OUTSIDE(i->entry, 0, p->entries), "calls");
    REFUSE(i->kind == ANSWER && OUTSIDE(i->entry, NONE, p->entries), "answers");
    REFUSE(OUTSIDE(i->way, 0, p->ways + 1) || OUTSIDE(i->ways, 0, p->ways - i->way + 1), "ways");
    REFUSE((i->kind == BRANCH || i->kind == SPAWN || i->kind == TELL) && i->ways < 1, "ways");
    REFUSE(i->kind != BRANCH && i->kind != DONE && n + 1 == p->instructions, "the last instruction");
    ptrdiff_t targets = i->kind == ANSWER ? p->entries : p->instructions;
    for (int64_t w = i->way; w < i->way + i->ways; w++)
        REFUSE(OUTSIDE(p->way[w].target, 0, targets), "targets of ways");
    return NULL;
}

const char *wrong_program(const Play *p)
{
    const char *wrong = NULL;
    for (ptrdiff_t n = 0; !wrong && n < p->instructions; n++)
        wrong = wrong_instruction(p, n);
    if (wrong)
        return wrong;
    for (ptrdiff_t e = 0; e < p->entries; e++)
        REFUSE(OUTSIDE(p->entry[e].task, 0, p->tasks) ||
               OUTSIDE(p->entry[e].start, 0, p->instructions) ||
               OUTSIDE(p->entry[e].meeting, NONE, p->entries), "entries");
    for (ptrdiff_t k = 0; k < p->places; k++) {
        const Place *s = &p->place[k];
        REFUSE(OUTSIDE(s->order, 0, ORDERS) || s->servers < 1, "order of service");
        REFUSE(k < p->tasks ? OUTSIDE(s->processor, p->tasks, p->places) || s->interrupts ||
                                  s->order == SHARED
                            : s->processor != NONE, "processors of tasks");
    }
    return NULL;
}

static const char *wrong_score(const Play *p)
{
    REFUSE(p->laws != p->instructions + p->entries, "a law for each sample");
    REFUSE(p->streams != p->laws + p->places, "streams");
    REFUSE(p->owners != p->entries + p->places + p->jobs || p->events != p->owners, "owners");
    for (ptrdiff_t r = 0; r < p->laws; r++)
        REFUSE(OUTSIDE(p->law[r].kind, 0, TRACE), "kinds of law");
    return wrong_program(p);
}

static int no_job(const Play *p, int64_t j)
{
    return OUTSIDE(j, NONE, p->jobs);
}

static const char *wrong_state(const Play *p)
{
    const Clock *c = p->clock;
    REFUSE(OUTSIDE(c->size, 0, p->events + 1) || no_job(p, c->unused) || c->jobs < 0 ||
           no_job(p, c->first) || no_job(p, c->last) || OUTSIDE(c->recorded, 0, p->journeys + 1),
           "the clock");
    for (ptrdiff_t k = 0; k < p->places; k++) {
        const Queue *s = &p->queue[k];
        REFUSE(no_job(p, s->first) || no_job(p, s->last) || no_job(p, s->served_first) ||
               no_job(p, s->met) || no_job(p, s->aside),
               "jobs of a queue");
    }
    for (ptrdiff_t j = 0; j < p->jobs; j++) {
        const Job *s = &p->job[j];
        REFUSE(no_job(p, s->next) || no_job(p, s->previous) || no_job(p, s->child) ||
               no_job(p, s->caller) || no_job(p, s->parent) || OUTSIDE(s->thread, 0, p->jobs) ||
               OUTSIDE(s->entry, 0, p->entries) || OUTSIDE(s->source, NONE, p->entries) ||
               OUTSIDE(s->address, NONE, p->instructions), "jobs");
    }
    for (ptrdiff_t e = 0; e < c->size; e++)
        REFUSE(OUTSIDE(p->event[e].owner, 0, p->owners) || p->at[p->event[e].owner] != e, "events");
    for (ptrdiff_t o = 0; o < p->owners; o++)
        REFUSE(OUTSIDE(p->at[o], NONE, c->size), "places of events");
    for (ptrdiff_t s = 0; s < p->streams; s++)
        REFUSE(p->stream[s].next < 0, "streams");
    return NULL;
}

const char *wrong_layers(const Play *p)
{
    const char *wrong = wrong_score(p);
    return wrong ? wrong : wrong_state(p);
}
