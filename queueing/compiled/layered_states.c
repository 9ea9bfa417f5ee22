/* All states of a layered system, and the moves between them: headway.queueing.layers.states.search.

   A state is a forest of cells (requests, threads, tokens), written in preorder, a word each, with
   equal states written alike. It is read into cells, on which events act one by one; every random
   choice on the way is decided beforehand, so that all outcomes are found in turn. */
#include <string.h>

#include "layers.h"

enum { WHOLE, SOME, FULL, NARROW, MANY, STILL }; /* why a call stops; SOME if it goes on */
enum { ROOT, CALLED, BRANCHED, LOOSE };          /* what a cell is to its parent */
enum { OVER_ALREADY = -2 };                      /* address of a main token that is done */
enum { DRAWS = 256, MOST_STILL = 100000 };

typedef struct {
    int64_t states, explored, moves, words; /* states found, states whose moves are known, and those moves */
    int64_t listed;                         /* states that the table can hold */
    int64_t most;                           /* states after which to stop */
    int64_t reason;
} Search;

typedef struct {
    int64_t entry, address, thread, caller, parent;
    int64_t tokens, left;             /* of a thread; branches that a token waits for */
    int64_t position, next, previous; /* place in a line, from 1, or 0; the line of those that can go on */
    int64_t alike;                    /* trees equal to this cell's, counted at the first of them */
    int64_t children, first, last, younger, elder, word; /* in the forest */
} Cell;

typedef struct { int64_t serving, waiting, first, last; } Line;

typedef struct {
    const Instruction *instruction;
    const Way *way;
    const Entry *entry;
    const Place *place;
    const int64_t *owner, *clients;
    const double *rate, *chance;
    Search *search;
    int64_t *words, *start, *table, *begin, *target, *cause;
    double *flow, *ended;
    Cell *cell, *read; /* the cells as they change, and as they were read */
    Line *line, *read_line;
    ptrdiff_t instructions, ways, entries, tasks, places;
    ptrdiff_t cells, room, states, slots, moves;
    int64_t used, read_used, unused, going, last, still, reason;
    int64_t drawn, decided, decision[DRAWS], following[DRAWS];
    int64_t ends, end[DRAWS]; /* entries of clients whose cycles ended */
    double odds;
} Walk;

/* Cells, and the line of those that can go on. */

static int64_t take(Walk *w, int64_t entry)
{
    int64_t j = w->unused;
    if (j != NONE)
        w->unused = w->cell[j].next;
    else if (w->used < w->cells)
        j = w->used++;
    else {
        w->reason = NARROW;
        return NONE;
    }
    w->cell[j] = (Cell){.entry = entry, .address = NONE, .thread = j, .caller = NONE,
                        .parent = NONE, .next = NONE, .previous = NONE, .alike = 1};
    return j;
}

static void drop(Walk *w, int64_t j)
{
    w->cell[j].thread = NONE;
    w->cell[j].next = w->unused;
    w->unused = j;
}

static void ready(Walk *w, int64_t j)
{
    w->cell[j].next = NONE;
    if (w->going == NONE)
        w->going = j;
    else
        w->cell[w->last].next = j;
    w->last = j;
}

static void go_on(Walk *w, int64_t j)
{
    if (w->cell[j].address + 1 < w->instructions)
        w->cell[j].address++;
    ready(w, j);
}

static void begin(Walk *w, int64_t j)
{
    Cell *c = &w->cell[j];
    c->address = w->entry[c->entry].start;
    c->tokens = 1;
    c->position = 0;
    ready(w, j);
}

/* Choose one of several options: the one decided beforehand, else the first that is possible. */

static double chance_of(const double *chance, int64_t ways, int64_t options, int64_t n)
{
    if (!chance)
        return 1.0 / (double)options;
    if (n < ways)
        return chance[n];
    double left = 1;
    for (int64_t k = 0; k < ways; k++)
        left -= chance[k];
    return left;
}

static int64_t possible(const double *chance, int64_t ways, int64_t options, int64_t n)
{
    while (n < options && chance_of(chance, ways, options, n) <= 0)
        n++;
    return n < options ? n : NONE;
}

static int64_t draw(Walk *w, const double *chance, int64_t ways, int64_t options)
{
    if (options == 1)
        return 0;
    if (w->drawn == DRAWS) {
        w->reason = STILL;
        return 0;
    }
    if (w->drawn == w->decided)
        w->decision[w->decided++] = possible(chance, ways, options, 0);
    int64_t n = w->decision[w->drawn];
    w->following[w->drawn++] = possible(chance, ways, options, n + 1);
    w->odds *= chance_of(chance, ways, options, n);
    return n < 0 ? 0 : n;
}

/* Move to the next decisions; returns whether there are any. */
static int decided_anew(Walk *w)
{
    while (w->decided > 0 && w->following[w->decided - 1] == NONE)
        w->decided--;
    if (w->decided == 0)
        return 0;
    w->decision[w->decided - 1] = w->following[w->decided - 1];
    return 1;
}

/* Places: who is served. With interruption everybody stands in line, and the first are served. */

static int64_t rank(const Walk *w, int64_t k, int64_t j)
{
    int64_t entry = w->cell[j].entry;
    return k < w->tasks ? w->entry[entry].rank : w->place[w->entry[entry].task].rank;
}

/* Whether a newcomer at a place goes before another. */
static int passes(const Walk *w, int64_t k, int64_t j, int64_t other)
{
    const Place *place = &w->place[k];
    double ahead = (double)(rank(w, k, j) - rank(w, k, other));
    double first = place->by_turn + place->by_priority * ahead;
    return first < 0 || (first == 0 && place->then_turn + place->then_priority * ahead < 0);
}

static void stand_behind(Walk *w, int64_t k, int64_t j, int64_t other)
{
    Line *line = &w->line[k];
    int64_t next = other == NONE ? line->first : w->cell[other].next;
    w->cell[j].previous = other;
    w->cell[j].next = next;
    *(other == NONE ? &line->first : &w->cell[other].next) = j;
    *(next == NONE ? &line->last : &w->cell[next].previous) = j;
    w->cell[j].position = 1;
    line->waiting++;
}

static void step_out(Walk *w, int64_t k, int64_t j)
{
    Line *line = &w->line[k];
    int64_t next = w->cell[j].next, previous = w->cell[j].previous;
    *(previous == NONE ? &line->first : &w->cell[previous].next) = next;
    *(next == NONE ? &line->last : &w->cell[next].previous) = previous;
    w->cell[j].position = 0;
    line->waiting--;
}

/* Requests that meet in a thread. */

/* Whether a request has come to a meeting: all that its own entry does has ended. */
static int parted(const Walk *w, int64_t j)
{
    const Cell *c = &w->cell[j];
    return c->thread == j && c->address == OVER_ALREADY && c->tokens == 0;
}

/* The request for an entry that has come to its task's meeting, or none. */
static int64_t party(const Walk *w, int64_t entry)
{
    for (int64_t j = 0; j < w->used; j++)
        if (w->cell[j].entry == entry && parted(w, j))
            return j;
    return NONE;
}

static void come(Walk *w, int64_t k, int64_t j)
{
    const Place *place = &w->place[k];
    Line *line = &w->line[k];
    int free = !place->interrupts && line->serving < place->servers;
    if (place->meets && party(w, w->cell[j].entry) != NONE)
        free = 0;
    if (place->order == SHARED || free) {
        line->serving++;
        if (k < w->tasks)
            begin(w, j);
        return;
    }
    int64_t before = line->last;
    if (place->order == RANKED)
        while (before != NONE && passes(w, k, j, before))
            before = w->cell[before].previous;
    stand_behind(w, k, j, before);
}

static void leave(Walk *w, int64_t k, int64_t j)
{
    const Place *place = &w->place[k];
    Line *line = &w->line[k];
    if (place->interrupts) {
        step_out(w, k, j);
        return;
    }
    line->serving--;
    if (line->first == NONE || line->serving >= place->servers)
        return;
    int64_t next = line->first;
    if (place->order == AT_RANDOM)
        for (int64_t n = draw(w, NULL, 0, line->waiting); n > 0; n--)
            next = w->cell[next].next;
    while (place->meets && next != NONE && party(w, w->cell[next].entry) != NONE)
        next = w->cell[next].next;
    if (next == NONE)
        return;
    step_out(w, k, next);
    line->serving++;
    if (k < w->tasks)
        begin(w, next);
}

/* Instructions; each returns whether its token goes on at once. */

static void ask(Walk *w, int64_t entry, int64_t caller)
{
    int64_t j = take(w, entry);
    if (j == NONE)
        return;
    w->cell[j].caller = caller;
    come(w, w->entry[entry].task, j);
}

static int spawn(Walk *w, const Instruction *instruction, int64_t j)
{
    int64_t order = draw(w, NULL, 0, orders(instruction));
    w->cell[j].left = instruction->needed;
    for (int64_t m = 0; m < instruction->ways; m++) {
        int64_t n = way_in_order(instruction, order, m);
        int64_t branch = take(w, w->cell[j].entry);
        if (branch == NONE)
            return 0;
        w->cell[branch].address = w->way[n].target;
        w->cell[branch].thread = w->cell[j].thread;
        w->cell[branch].parent = j;
        w->cell[w->cell[j].thread].tokens++;
        const Instruction *first = &w->instruction[w->way[n].target];
        if (first->kind == GATE)
            w->cell[branch].left = first->needed;
        else
            ready(w, branch);
    }
    return 0;
}

/* Tell the gates of the other branches of the same parent that this one is done. */
static int tell(Walk *w, const Instruction *instruction, int64_t j)
{
    int64_t order = draw(w, NULL, 0, orders(instruction));
    for (int64_t m = 0; m < instruction->ways; m++) {
        int64_t gate = w->way[way_in_order(instruction, order, m)].target;
        for (int64_t k = 0; k < w->used; k++)
            if (w->cell[k].parent == w->cell[j].parent && w->cell[k].address == gate &&
                --w->cell[k].left == 0)
                go_on(w, k);
    }
    w->cell[j].address++;
    return 1;
}

/* A thread answers, through any of its tokens. */
static int answer(Walk *w, const Instruction *instruction, int64_t j)
{
    const double *chance = w->chance + instruction->way;
    int64_t met = instruction->entry == NONE ? NONE : party(w, instruction->entry);
    Cell *main = &w->cell[met == NONE ? w->cell[j].thread : met];
    int64_t caller = main->caller, ways = instruction->ways;
    int rest = chance_of(chance, ways, ways, ways) > 1e-9 || ways == 0;
    main->caller = NONE;
    w->cell[j].address++;
    int64_t onward = draw(w, chance, ways, ways + rest);
    if (onward < ways)
        ask(w, w->way[instruction->way + onward].target, caller);
    else if (caller != NONE)
        go_on(w, caller);
    if (!instruction->drawn || draw(w, NULL, 0, 2))
        return 1;
    ready(w, j);
    return 0;
}

/* A branch is done: its parent goes on after the last branch that it needs, while others keep running. */
static void join(Walk *w, int64_t parent)
{
    if (--w->cell[parent].left != 0)
        return;
    for (int64_t j = 0; j < w->used; j++)
        if (w->cell[j].parent == parent)
            w->cell[j].parent = NONE;
    go_on(w, parent);
}

/* A request has come to a meeting; with the last one the thread goes on for all of them. */
static void meet(Walk *w, int64_t meeting, int64_t j)
{
    int64_t come = 0;
    for (ptrdiff_t e = 0; e < w->entries; e++)
        come += w->entry[e].meeting == meeting && party(w, e) != NONE;
    if (come < w->entry[meeting].parties)
        leave(w, w->entry[meeting].task, j);
    else if ((j = take(w, meeting)) != NONE)
        begin(w, j);
}

static void release(Walk *w, int64_t j)
{
    int64_t entry = w->cell[j].entry;
    if (w->entry[entry].meeting != NONE) {
        meet(w, w->entry[entry].meeting, j);
        return;
    }
    for (ptrdiff_t e = 0; w->entry[entry].parties && e < w->entries; e++) {
        int64_t each = w->entry[e].meeting == entry ? party(w, e) : NONE;
        if (each != NONE)
            drop(w, each);
    }
    if (!w->entry[entry].clients) {
        drop(w, j);
        leave(w, w->entry[entry].task, j);
    } else if (w->ends < DRAWS) {
        w->end[w->ends++] = entry;
        begin(w, j);
    } else
        w->reason = STILL;
}

static int done(Walk *w, int64_t j)
{
    int64_t thread = w->cell[j].thread, parent = w->cell[j].parent;
    w->cell[j].address = OVER_ALREADY;
    if (j != thread) {
        w->cell[j].parent = NONE;
        drop(w, j);
        if (parent != NONE)
            join(w, parent);
    }
    if (--w->cell[thread].tokens == 0)
        release(w, thread);
    return 0;
}

static int follow(Walk *w, int64_t j)
{
    Cell *c = &w->cell[j];
    const Instruction *instruction = &w->instruction[c->address];
    int64_t way = instruction->way, ways = instruction->ways;
    switch (instruction->kind) {
    case SERVE:
        come(w, instruction->place, j);
        return 0;
    case WAIT:
        return 0;
    case CALL:
        ask(w, instruction->entry, j);
        return 0;
    case BRANCH:
        c->address = w->way[way + draw(w, w->chance + way, ways, ways)].target;
        return 1;
    case SPAWN:
        return spawn(w, instruction, j);
    case ANSWER:
        return answer(w, instruction, j);
    case DONE:
        return done(w, j);
    case GATE:
        return 0;
    case TELL:
        return tell(w, instruction, j);
    default: /* nothing is sent: such chains have no end */
        w->reason = STILL;
        return 0;
    }
}

static void settle(Walk *w)
{
    while (w->going != NONE && w->reason == SOME) {
        int64_t j = w->going;
        w->going = w->cell[j].next;
        do
            if (w->still++ == MOST_STILL)
                w->reason = STILL;
        while (w->reason == SOME && follow(w, j));
    }
}

/* Cells as words and back: what a cell is, where it stands, and how many are below it. */

enum { CHILDREN = 16, ROLE = 2, LEFT = 8, POSITION = 16 }; /* bits; then the head */

static int64_t role_of(const Cell *c, int64_t j)
{
    if (c->thread == j)
        return c->caller == NONE ? ROOT : CALLED;
    return c->parent == NONE ? LOOSE : BRANCHED;
}

static int64_t word_of(const Walk *w, int64_t j)
{
    const Cell *c = &w->cell[j];
    int64_t head = c->address >= 0 ? c->address
                   : w->instructions + c->entry + (c->address == NONE ? 0 : w->entries);
    int64_t kind = w->instruction[c->address >= 0 ? c->address : 0].kind;
    int64_t left = kind == SPAWN || kind == GATE ? c->left : 0;
    int64_t word = (head << POSITION) + c->position;
    return (((((word << LEFT) + left) << ROLE) + role_of(c, j)) << CHILDREN) + c->children;
}

static int64_t cut(int64_t *word, int bits)
{
    int64_t value = *word & ((1 << bits) - 1);
    *word >>= bits;
    return value;
}

/* Put cells into the line by the positions that were written. */
static void stand(Walk *w, int64_t k, int64_t j, int64_t position)
{
    int64_t before = w->line[k].last;
    while (before != NONE && w->cell[before].position > position)
        before = w->cell[before].previous;
    stand_behind(w, k, j, before);
    w->cell[j].position = position;
}

/* Read a tree under a cell; returns the word after its last. */
static const int64_t *read_tree(Walk *w, int64_t above, const int64_t *at, const int64_t *end)
{
    int64_t word = *at++, j = take(w, 0);
    if (j == NONE)
        return at;
    Cell *c = &w->cell[j];
    int64_t children = cut(&word, CHILDREN), role = cut(&word, ROLE), left = cut(&word, LEFT);
    int64_t position = cut(&word, POSITION), rest = word - w->instructions;
    if (word < 0 || rest >= 2 * w->entries || (role == ROOT) != (above == NONE)) {
        w->reason = STILL; /* never: these words were written here */
        return at;
    }
    int main = role <= CALLED;
    c->left = left;
    c->caller = role == CALLED ? above : NONE;
    c->parent = role == BRANCHED ? above : NONE;
    c->thread = main ? j : role == LOOSE ? above : w->cell[above].thread;
    c->address = rest < 0 ? word : rest < w->entries ? NONE : OVER_ALREADY;
    c->entry = rest < 0 ? w->owner[word] : rest < w->entries ? rest : rest - w->entries;
    w->cell[c->thread].tokens += c->address >= 0;
    if (main && c->address == NONE)
        stand(w, w->entry[c->entry].task, j, position);
    else if (main)
        w->line[w->entry[c->entry].task].serving++;
    if (c->address >= 0 && w->instruction[c->address].kind == SERVE) {
        if (position)
            stand(w, w->instruction[c->address].place, j, position);
        else
            w->line[w->instruction[c->address].place].serving++;
    }
    while (children-- > 0 && at < end && w->reason == SOME)
        at = read_tree(w, j, at, end);
    if (parted(w, j))
        w->line[w->entry[w->cell[j].entry].task].serving--;
    return at;
}

static void fresh(Walk *w)
{
    w->used = w->ends = w->still = w->drawn = 0;
    w->unused = w->going = NONE;
    w->odds = 1;
    for (ptrdiff_t k = 0; k < w->places; k++)
        w->line[k] = (Line){.first = NONE, .last = NONE};
}

/* Read a state; equal trees stand together, and the events of the first count for all of them. */
static void read_state(Walk *w, int64_t state)
{
    const int64_t *at = w->words + w->start[state], *end = w->words + w->start[state + 1];
    const int64_t *before = NULL;
    int64_t first = NONE;
    fresh(w);
    while (at < end && w->reason == SOME) {
        int64_t j = w->used;
        const int64_t *tree = at;
        at = read_tree(w, NONE, at, end);
        size_t size = sizeof *tree * (size_t)(at - tree);
        int same = before && tree - before == at - tree && !memcmp(before, tree, size);
        first = same ? first : j;
        for (int64_t k = 0; same && j + k < w->used; k++) {
            w->cell[first + k].alike++;
            w->cell[j + k].alike = 0;
        }
        before = tree;
    }
    memcpy(w->read, w->cell, sizeof(Cell) * (size_t)w->used);
    memcpy(w->read_line, w->line, sizeof(Line) * (size_t)w->places);
    w->read_used = w->used;
}

static int compare(const Walk *w, int64_t a, int64_t b)
{
    const Cell *c = w->cell;
    if (c[a].word != c[b].word)
        return c[a].word < c[b].word ? -1 : 1;
    for (a = c[a].first, b = c[b].first; a != NONE && b != NONE; a = c[a].younger, b = c[b].younger) {
        int order = compare(w, a, b);
        if (order)
            return order;
    }
    return 0;
}

/* Sort the trees under a cell, or all, with those below; mostly they are sorted already. */
static void sort_trees(Walk *w, int64_t *first, int64_t *last)
{
    Cell *c = w->cell;
    int64_t next, todo = *first;
    *first = *last = NONE;
    for (int64_t j = todo; j != NONE; j = next) {
        next = c[j].younger;
        sort_trees(w, &c[j].first, &c[j].last);
        c[j].word = word_of(w, j);
        int64_t elder = *last;
        while (elder != NONE && compare(w, elder, j) > 0)
            elder = c[elder].elder;
        int64_t younger = elder == NONE ? *first : c[elder].younger;
        c[j].elder = elder;
        c[j].younger = younger;
        *(elder == NONE ? first : &c[elder].younger) = j;
        *(younger == NONE ? last : &c[younger].elder) = j;
    }
}

static int64_t *write_trees(const Walk *w, int64_t first, int64_t *at)
{
    for (int64_t j = first; j != NONE; j = w->cell[j].younger) {
        *at++ = w->cell[j].word;
        at = write_trees(w, w->cell[j].first, at);
    }
    return at;
}

/* Write the new state behind all others; returns its number of words. */
static int64_t written(Walk *w)
{
    Cell *c = w->cell;
    int64_t first = NONE, last = NONE, live = 0;
    for (ptrdiff_t k = 0; k < w->places; k++) {
        int64_t position = 0;
        for (int64_t j = w->line[k].first; j != NONE; j = c[j].next)
            c[j].position = w->place[k].order == AT_RANDOM ? 1 : ++position;
    }
    for (int64_t j = 0; j < w->used; j++) {
        c[j].first = c[j].last = c[j].younger = NONE;
        c[j].children = 0;
    }
    for (int64_t j = 0; j < w->used; j++) {
        if (c[j].thread == NONE)
            continue;
        int64_t role = role_of(&c[j], j);
        int64_t above = role == CALLED ? c[j].caller : role == BRANCHED ? c[j].parent : c[j].thread;
        int64_t *tail = role == ROOT ? &last : &c[above].last;
        if (*tail == NONE)
            *(role == ROOT ? &first : &c[above].first) = j;
        else
            c[*tail].younger = j;
        *tail = j;
        if (role != ROOT)
            c[above].children++;
        live++;
    }
    if (w->search->words + live > w->room) {
        w->reason = FULL;
        return 0;
    }
    sort_trees(w, &first, &last);
    return write_trees(w, first, w->words + w->search->words) - w->words - w->search->words;
}

/* The table of states: open addressing by a hash of their words. */

static int64_t *slot_of(const Walk *w, const int64_t *words, int64_t size)
{
    uint64_t hash = 0, slot;
    for (int64_t n = 0; n < size; n++) {
        hash = (hash ^ (uint64_t)words[n]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (slot = hash % (uint64_t)w->slots;; slot = (slot + 1) % (uint64_t)w->slots) {
        int64_t s = w->table[slot];
        if (s == NONE || (w->start[s + 1] - w->start[s] == size &&
                          !memcmp(w->words + w->start[s], words, sizeof *words * (size_t)size)))
            return &w->table[slot];
    }
}

/* The number of the state just written; a new one is added to the table. */
static int64_t number_of(Walk *w, int64_t size)
{
    Search *s = w->search;
    int64_t *slot = slot_of(w, w->words + s->words, size);
    if (*slot != NONE)
        return *slot;
    if (s->states == s->most)
        w->reason = MANY;
    else if (s->states + 1 >= w->states || 2 * (s->states + 1) > w->slots)
        w->reason = FULL;
    else {
        *slot = s->states++;
        s->listed = s->states;
        s->words += size;
        w->start[s->states] = s->words;
    }
    return s->states - 1;
}

/* All outcomes of an event at a cell. */
static void move(Walk *w, int64_t state, int64_t j, double rate)
{
    Search *s = w->search;
    w->decided = 0;
    do {
        fresh(w);
        w->used = w->read_used;
        memcpy(w->cell, w->read, sizeof(Cell) * (size_t)w->used);
        memcpy(w->line, w->read_line, sizeof(Line) * (size_t)w->places);
        const Instruction *instruction = &w->instruction[w->cell[j].address];
        if (instruction->kind == SERVE)
            leave(w, instruction->place, j);
        go_on(w, j);
        settle(w);
        int64_t size = w->reason == SOME ? written(w) : 0;
        int64_t target = w->reason == SOME ? number_of(w, size) : 0;
        if (w->reason == SOME && s->moves == w->moves)
            w->reason = FULL;
        if (w->reason != SOME)
            return;
        w->target[s->moves] = target;
        w->cause[s->moves] = w->read[j].address * (w->entries + 1) + (w->ends ? w->end[0] + 1 : 0);
        w->flow[s->moves++] = rate * w->odds;
        for (int64_t n = 0; n < w->ends; n++)
            w->ended[state * w->entries + w->end[n]] += rate * w->odds;
    } while (decided_anew(w));
}

/* The rate at which a cell's activity ends; 0 if it waits. */
static double rate_of(const Walk *w, const Cell *c)
{
    if (c->address < 0)
        return 0;
    const Instruction *instruction = &w->instruction[c->address];
    if (instruction->kind == WAIT)
        return w->rate[c->address];
    if (instruction->kind != SERVE)
        return 0;
    const Place *place = &w->place[instruction->place];
    if (place->order == SHARED) {
        double share = (double)place->servers / (double)w->read_line[instruction->place].serving;
        return w->rate[c->address] * (share < 1 ? share : 1);
    }
    return c->position > (place->interrupts ? place->servers : 0) ? 0 : w->rate[c->address];
}

static void explore(Walk *w, int64_t state)
{
    for (ptrdiff_t e = 0; e < w->entries; e++)
        w->ended[state * w->entries + e] = 0;
    w->begin[state] = w->search->moves;
    read_state(w, state);
    int64_t count = w->read_used;
    for (int64_t j = 0; j < count && w->reason == SOME; j++) {
        double rate = rate_of(w, &w->read[j]) * (double)w->read[j].alike;
        if (rate > 0)
            move(w, state, j, rate);
    }
    w->begin[state + 1] = w->search->moves;
    if (w->reason != SOME)
        w->search->moves = w->begin[state];
}

/* The first state: all clients begin. */
static void open_chain(Walk *w)
{
    fresh(w);
    for (ptrdiff_t e = 0; e < w->entries; e++)
        for (int64_t n = 0; n < w->clients[e] && w->reason == SOME; n++) {
            int64_t j = take(w, e);
            if (j == NONE)
                return;
            w->line[w->entry[e].task].serving++;
            begin(w, j);
        }
    w->decided = 0;
    settle(w);
    if (w->reason == SOME)
        number_of(w, written(w));
}

static const char *wrong_search(const Walk *w, const Argument *given)
{
    const Search *s = w->search;
    const char *wrong = "explore_program: sizes of the arrays";
    if (w->instructions < 1 || w->ways < 0 || w->entries < 1 || w->places < 1 || w->cells < 1 ||
        w->states < 1 || w->slots < 2 || w->room < 0)
        return wrong;
    if (given[4].counts.size != w->instructions || given[5].numbers.size != w->instructions ||
        given[6].numbers.size != w->ways || given[7].counts.size != w->entries ||
        ROWS(8, Search) != 1 || given[9].counts.size < 1 || given[12].counts.size < w->states + 1 ||
        given[13].counts.size < 1 || given[14].numbers.size != given[13].counts.size ||
        given[15].numbers.size < w->states * w->entries || given[16].counts.size % 2 ||
        ROWS(17, Line) != 2 * w->places || given[18].counts.size != w->moves)
        return wrong;
    if (OUTSIDE(s->states, 0, w->states) || OUTSIDE(s->explored, 0, s->states + 1) ||
        OUTSIDE(s->words, 0, w->room + 1) || OUTSIDE(s->moves, 0, w->moves + 1) ||
        OUTSIDE(s->listed, 0, s->states + 1) || 2 * s->states > w->slots)
        return "explore_program: counts of the search";
    for (ptrdiff_t n = 0; n < w->instructions; n++)
        if (OUTSIDE(w->owner[n], 0, w->entries))
            return "explore_program: entries of instructions";
    for (int64_t n = 0; n < s->states; n++)
        if (w->start[0] != 0 || w->start[n + 1] <= w->start[n] || w->start[n + 1] > s->words)
            return "explore_program: words of states";
    int64_t listed = 0;
    for (ptrdiff_t n = 0; n < w->slots; n++) {
        if (OUTSIDE(w->table[n], NONE, s->states))
            return "explore_program: the table of states";
        listed += w->table[n] != NONE;
    }
    return listed == s->listed ? NULL : "explore_program: the table of states";
}

/* Find states until all are known, a number of further ones is, or an array is full. */
const char *explore_program(const Argument *given)
{
    Walk w = {
        .instruction = (const void *)given[0].counts.at, .instructions = ROWS(0, Instruction),
        .way = (const void *)given[1].counts.at, .ways = ROWS(1, Way),
        .entry = (const void *)given[2].counts.at, .entries = ROWS(2, Entry),
        .place = (const void *)given[3].counts.at, .places = ROWS(3, Place),
        .owner = given[4].counts.at, .rate = given[5].numbers.at, .chance = given[6].numbers.at,
        .clients = given[7].counts.at, .search = (void *)given[8].counts.at,
        .words = given[9].counts.at, .room = given[9].counts.size,
        .start = given[10].counts.at, .states = given[10].counts.size - 1,
        .table = given[11].counts.at, .slots = given[11].counts.size,
        .begin = given[12].counts.at,
        .target = given[13].counts.at, .moves = given[13].counts.size,
        .flow = given[14].numbers.at, .ended = given[15].numbers.at,
        .cell = (void *)given[16].counts.at, .cells = ROWS(16, Cell) / 2,
        .line = (void *)given[17].counts.at, .cause = given[18].counts.at,
        .reason = SOME,
    };
    const char *wrong = wrong_search(&w, given);
    if (wrong)
        return wrong;
    Play p = {.instruction = w.instruction, .instructions = w.instructions, .way = w.way,
              .ways = w.ways, .entry = w.entry, .entries = w.entries, .place = w.place,
              .places = w.places};
    while (p.tasks < p.places && p.place[p.tasks].processor != NONE)
        p.tasks++;
    if (wrong_program(&p))
        return "explore_program: instructions, entries or places";
    w.tasks = p.tasks;
    w.read = w.cell + w.cells;
    w.read_line = w.line + w.places;
    Search *s = w.search;
    for (; s->listed < s->states; s->listed++)
        *slot_of(&w, w.words + w.start[s->listed], w.start[s->listed + 1] - w.start[s->listed]) =
            s->listed;
    if (s->states == 0)
        open_chain(&w);
    for (int64_t most = given[19].count; w.reason == SOME && most > 0; most--) {
        if (s->explored == s->states) {
            w.reason = WHOLE;
            break;
        }
        explore(&w, s->explored);
        s->explored += w.reason == SOME;
    }
    s->reason = w.reason;
    return NULL;
}
