#include "collective/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/no_memory.h"

enum { UNIT = 64 }; /* bytes: messages are cut at cache lines */

/* A slot that this member owns after a stage: a range of a node's elements (collective/stages.h). */
typedef struct held {
    int32_t node, slot;            /* indices: of the node in its stage, and of the slot in the node */
    int64_t first, bytes, at;      /* the slot has bytes FIRST to FIRST + BYTES - 1 of the node; their sum is at AT */
    int32_t first_term, num_terms; /* the terms of the sum */
} held;

typedef struct held_list {
    held *slot;
    int32_t count;
    int64_t capacity;
} held_list;

typedef struct builder {
    const mst_stages *stages;
    int32_t self;
    int64_t sum; /* offset of the sum */
    mst_routes *r;
    int64_t ins, outs, pieces, sums, terms; /* capacities */
    held_list before, now;       /* what this member owns after the previous stage, and after the present one */
    int32_t first_in, first_out; /* the first messages of the present stage */
} builder;

/* ---- growing lists ---- */

static mst_status add_in(builder *b, int32_t member, int64_t at, int64_t bytes) {
    mst_routes *r = b->r;
    MST_TRY(mst_grow(&r->in, sizeof *r->in, r->num_ins + 1, &b->ins));
    mst_route_in *in = &r->in[r->num_ins];
    *in = (mst_route_in){.member = member, .at = at, .bytes = bytes};
    for (int32_t i = 0; i < r->num_ins; i++) in->serial += r->in[i].member == member;
    r->num_ins++;
    return MST_OK;
}

static mst_status add_out(builder *b, int32_t member) {
    mst_routes *r = b->r;
    MST_TRY(mst_grow(&r->out, sizeof *r->out, r->num_outs + 1, &b->outs));
    mst_route_out *out = &r->out[r->num_outs];
    *out = (mst_route_out){.member = member};
    for (int32_t i = 0; i < r->num_outs; i++) out->serial += r->out[i].member == member;
    r->num_outs++;
    return MST_OK;
}

static mst_status add_piece(builder *b, int32_t out, int64_t at, int64_t bytes) {
    mst_routes *r = b->r;
    MST_TRY(mst_grow(&r->piece, sizeof *r->piece, r->num_pieces + 1, &b->pieces));
    r->piece[r->num_pieces++] = (mst_route_piece){.out = out, .at = at, .bytes = bytes};
    r->out[out].num_pieces++;
    return MST_OK;
}

static mst_status add_term(builder *b, mst_shards node, int32_t in, int64_t at) {
    mst_routes *r = b->r;
    MST_TRY(mst_grow(&r->term, sizeof *r->term, r->num_terms + 1, &b->terms));
    r->term[r->num_terms++] = (mst_route_term){.node = node, .in = in, .at = at};
    return MST_OK;
}

static mst_status add_sum(builder *b, const held *h) {
    mst_routes *r = b->r;
    MST_TRY(mst_grow(&r->sum, sizeof *r->sum, r->num_sums + 1, &b->sums));
    r->sum[r->num_sums++] = (mst_route_sum){h->first, h->bytes, h->at, h->first_term, h->num_terms};
    return MST_OK;
}

static mst_status hold(held_list *list, held h) {
    MST_TRY(mst_grow(&list->slot, sizeof *list->slot, list->count + 1, &list->capacity));
    list->slot[list->count++] = h;
    return MST_OK;
}

/* Notes that the messages and sums added so far are those up to step S. The messages that step S sends are not known
 * yet. */
static void end_ins(builder *b, int32_t s) {
    b->r->step[s].ins = b->r->num_ins;
    b->r->step[s].sums = b->r->num_sums;
}

static void end_outs(builder *b, int32_t s) {
    b->r->step[s].outs = b->r->num_outs;
}

/* Sorts the pieces by their messages: pieces of several messages were added in turn. */
static mst_status sort_pieces(mst_routes *r) {
    if (r->num_pieces == 0) return MST_OK;
    mst_route_piece *sorted = malloc((size_t)r->num_pieces * sizeof *sorted);
    if (!sorted) return MST_NO_MEMORY("for the messages of an exchange");
    int32_t first = 0;
    for (int32_t i = 0; i < r->num_outs; i++) {
        r->out[i].first_piece = first;
        first += r->out[i].num_pieces;
        r->out[i].num_pieces = 0;
    }
    for (int32_t i = 0; i < r->num_pieces; i++) {
        mst_route_out *out = &r->out[r->piece[i].out];
        sorted[out->first_piece + out->num_pieces++] = r->piece[i];
    }
    free(r->piece);
    r->piece = sorted;
    return MST_OK;
}

/* ---- one stage ---- */

/* The offset in the block of memory of byte FIRST of NODE. The byte is in SLOT of the previous stage, which this member
 * owns. */
static int64_t place_of_slot(const builder *b, int32_t node, int32_t slot, int64_t first) {
    int64_t at = 0;
    for (const held *h = b->before.slot; h < b->before.slot + b->before.count; h++)
        if (h->node == node && h->slot == slot) at = h->at + first - h->first;
    return at;
}

/* Adds a term of a sum: BYTES bytes of NODE, which MEMBER sends in its message of this stage. */
static mst_status receive_term(builder *b, int32_t member, mst_shards node, int64_t bytes) {
    int32_t i = b->first_in;
    while (i < b->r->num_ins && b->r->in[i].member != member) i++;
    if (i == b->r->num_ins) MST_TRY(add_in(b, member, 0, 0));
    mst_route_in *in = &b->r->in[i];
    MST_TRY(add_term(b, node, i, in->bytes));
    in->bytes += bytes;
    return MST_OK;
}

static mst_status send_term(builder *b, int32_t member, int64_t at, int64_t bytes) {
    int32_t i = b->first_out;
    while (i < b->r->num_outs && b->r->out[i].member != member) i++;
    if (i == b->r->num_outs) MST_TRY(add_out(b, member));
    return add_piece(b, i, at, bytes);
}

/* Routes the terms of SLOT of node I of stage S: the same elements of each of the node's children. */
static mst_status route_slot(builder *b, int32_t s, int32_t i, int32_t slot) {
    const mst_stage *stage = &b->stages->stage[s], *before = stage - 1;
    const mst_stage_node *n = &stage->node[i];
    const int32_t slot_before = mst_stage_slot_before(b->stages, s, slot), owner = mst_stage_owner(stage, n, slot);
    held h = {.node = i, .slot = slot, .first_term = b->r->num_terms, .num_terms = n->num_children};
    mst_stage_range(b->stages, s, slot, b->r->size / UNIT, &h.first, &h.bytes);
    if (h.bytes == 0) return MST_OK;
    h.first *= UNIT;
    h.bytes *= UNIT;
    for (int32_t d = n->first_child; d < n->first_child + n->num_children; d++) {
        const int32_t has = mst_stage_owner(before, &before->node[d], slot_before);
        if (has == b->self) {
            const int64_t at = place_of_slot(b, d, slot_before, h.first);
            MST_TRY(owner == has ? add_term(b, before->node[d].shards, -1, at) : send_term(b, owner, at, h.bytes));
        } else if (owner == b->self) {
            MST_TRY(receive_term(b, has, before->node[d].shards, h.bytes));
        }
    }
    return owner == b->self ? hold(&b->now, h) : MST_OK;
}

static int64_t take_memory(builder *b, int64_t bytes) {
    const int64_t at = b->r->memory;
    b->r->memory += bytes;
    return at;
}

/* Allocates memory for the messages that are received in this stage, and sets the offsets of the terms in them. */
static void place_terms(builder *b, int32_t first_term) {
    mst_routes *r = b->r;
    for (int32_t i = b->first_in; i < r->num_ins; i++) r->in[i].at = take_memory(b, r->in[i].bytes);
    for (int32_t i = first_term; i < r->num_terms; i++)
        if (r->term[i].in >= 0) r->term[i].at += r->in[r->term[i].in].at;
}

/* A sum of one term stays in the place of that term. Other sums get new memory, or in the last stage the place of the
 * whole sum. */
static mst_status place_sums(builder *b, bool last) {
    for (int32_t i = 0; i < b->now.count; i++) {
        held *h = &b->now.slot[i];
        if (h->num_terms == 1) {
            h->at = b->r->term[h->first_term].at;
        } else {
            h->at = last ? b->sum + h->first : take_memory(b, h->bytes);
            MST_TRY(add_sum(b, h));
        }
    }
    return MST_OK;
}

static mst_status route_stage(builder *b, int32_t s) {
    const mst_stage *stage = &b->stages->stage[s];
    const int32_t first_term = b->r->num_terms;
    b->first_in = b->r->num_ins;
    b->first_out = b->r->num_outs;
    for (int32_t i = 0; i < stage->num_nodes; i++)
        for (int32_t slot = 0; slot < stage->num_slots; slot++) MST_TRY(route_slot(b, s, i, slot));
    place_terms(b, first_term);
    MST_TRY(place_sums(b, s == b->stages->num_stages));
    const held_list before = b->before;
    b->before = b->now;
    b->now = before;
    b->now.count = 0;
    end_outs(b, s - 1);
    end_ins(b, s);
    return MST_OK;
}

/* ---- the way back ---- */

/* Routes the sum in SLOT of stage S on the way back: this member receives it, or sends its own. */
static mst_status route_back_slot(builder *b, int32_t s, int32_t slot, int64_t first, int64_t bytes) {
    const bool is_own = slot == b->self % b->stages->stage[s].num_slots;
    const int32_t giver = mst_stage_giver(b->stages, s, slot, b->self);
    if (giver >= 0) MST_TRY(add_in(b, giver, b->sum + first, bytes));
    for (int32_t m = 0; is_own && m < b->stages->num_members; m++) {
        if (mst_stage_giver(b->stages, s, slot, m) != b->self) continue;
        MST_TRY(add_out(b, m));
        MST_TRY(add_piece(b, b->r->num_outs - 1, b->sum + first, bytes));
    }
    return MST_OK;
}

static mst_status route_back(builder *b, int32_t s) {
    for (int32_t slot = 0; slot < b->stages->stage[s].num_slots; slot++) {
        int64_t first, count;
        mst_stage_range(b->stages, s, slot, b->r->size / UNIT, &first, &count);
        if (count > 0) MST_TRY(route_back_slot(b, s, slot, UNIT * first, UNIT * count));
    }
    const int32_t step = 2 * b->stages->num_stages - s;
    end_outs(b, step);
    end_ins(b, step + 1);
    end_outs(b, step + 1);
    return MST_OK;
}

/* ---- all at once ---- */

static mst_status route_at_once(builder *b) {
    const mst_stage *leaves = &b->stages->stage[0];
    held sum = {.bytes = b->r->size, .at = b->sum, .num_terms = leaves->num_nodes};
    for (int32_t i = 0, own = 0; i < leaves->num_nodes; i++) {
        const mst_stage_node *n = &leaves->node[i];
        if (n->first_owner == b->self)
            MST_TRY(add_term(b, n->shards, -1, b->r->size * own++));
        else
            MST_TRY(receive_term(b, n->first_owner, n->shards, b->r->size));
    }
    place_terms(b, 0);
    for (int32_t m = 0; m < b->stages->num_members; m++)
        if (m != b->self) MST_TRY(send_term(b, m, 0, b->sum));
    MST_TRY(add_sum(b, &sum));
    end_outs(b, 0);
    end_ins(b, 1);
    end_outs(b, 1);
    return MST_OK;
}

/* ---- whole routes ---- */

static mst_status route_all(builder *b, bool at_once) {
    const mst_stages *stages = b->stages;
    mst_routes *r = b->r;
    r->num_steps = at_once ? 2 : 2 * stages->num_stages + 1;
    r->step = calloc((size_t)r->num_steps, sizeof *r->step);
    if (!r->step) return MST_NO_MEMORY("for the messages of an exchange");
    for (int32_t i = 0; i < stages->stage[0].num_nodes; i++)
        if (stages->stage[0].node[i].first_owner == b->self)
            MST_TRY(hold(&b->before, (held){.node = i, .bytes = r->size, .at = take_memory(b, r->size)}));
    b->sum = take_memory(b, r->size);
    if (at_once) return route_at_once(b);
    for (int32_t s = 1; s <= stages->num_stages; s++) MST_TRY(route_stage(b, s));
    for (int32_t s = stages->num_stages; s >= 1; s--) MST_TRY(route_back(b, s));
    return MST_OK;
}

mst_status mst_routes_make(const mst_stages *stages, int32_t self, int64_t size, bool at_once, mst_routes *out) {
    builder b = {.stages = stages, .self = self, .r = out};
    out->size = size;
    mst_status status = route_all(&b, at_once || stages->num_members == 1);
    if (!status) status = sort_pieces(out);
    free(b.before.slot);
    free(b.now.slot);
    if (status) mst_routes_free(out);
    return status;
}

/* ---- parts ---- */

/* Routes of a scatter: this member adds up its own part of all leaves, and sends the other members their parts of its
 * leaves. */
static mst_status route_scatter(builder *b, const int64_t *cut) {
    const mst_stage *leaves = &b->stages->stage[0];
    const int64_t first = cut[b->self], bytes = cut[b->self + 1] - first;
    held sum = {.first = first, .bytes = bytes, .num_terms = leaves->num_nodes};
    int64_t own = 0;
    for (int32_t i = 0; i < leaves->num_nodes; i++) {
        const mst_stage_node *n = &leaves->node[i];
        const bool is_own = n->first_owner == b->self;
        for (int32_t m = 0; is_own && m < b->stages->num_members; m++)
            if (m != b->self && cut[m + 1] > cut[m]) MST_TRY(send_term(b, m, own + cut[m], cut[m + 1] - cut[m]));
        if (bytes && is_own) MST_TRY(add_term(b, n->shards, -1, own + first));
        if (bytes && !is_own) MST_TRY(receive_term(b, n->first_owner, n->shards, bytes));
        if (is_own) own += b->r->size;
    }
    b->r->memory = own;
    /* whole units, and more than BYTES: cut_parts in exchange.c may give a value of which this member has no element
     * the address just behind the sum, which must be in the block */
    b->sum = sum.at = take_memory(b, bytes / UNIT * UNIT + UNIT);
    place_terms(b, 0);
    if (bytes) MST_TRY(add_sum(b, &sum));
    end_outs(b, 0);
    for (int32_t step = 1; step <= 2; step++) {
        end_ins(b, step);
        end_outs(b, step);
    }
    return MST_OK;
}

/* Routes of a gather: this member sends its part to all others, and receives theirs. */
static mst_status route_gather(builder *b, const int64_t *cut) {
    const int64_t first = cut[b->self], bytes = cut[b->self + 1] - first;
    (void)take_memory(b, b->r->size);
    for (int32_t m = 0; m < b->stages->num_members; m++) {
        if (m == b->self) continue;
        if (bytes) MST_TRY(send_term(b, m, first, bytes));
        if (cut[m + 1] > cut[m]) MST_TRY(add_in(b, m, cut[m], cut[m + 1] - cut[m]));
    }
    end_outs(b, 0);
    end_ins(b, 1);
    end_outs(b, 1);
    return MST_OK;
}

static mst_status make_parts(builder *b, const int64_t *cut, bool scatter, int64_t size) {
    mst_routes *r = b->r;
    r->size = size;
    r->num_steps = scatter ? 3 : 2;
    r->step = calloc((size_t)r->num_steps, sizeof *r->step);
    mst_status status = r->step ? MST_OK : MST_NO_MEMORY("for the messages of an exchange");
    if (!status) status = scatter ? route_scatter(b, cut) : route_gather(b, cut);
    if (!status) status = sort_pieces(r);
    if (status) mst_routes_free(r);
    return status;
}

mst_status mst_routes_make_scatter(const mst_stages *stages, int32_t self, int64_t size, const int64_t *cut,
                                   mst_routes *out, int64_t *at) {
    builder b = {.stages = stages, .self = self, .r = out};
    const mst_status status = make_parts(&b, cut, true, size);
    *at = b.sum;
    return status;
}

mst_status mst_routes_make_gather(const mst_stages *stages, int32_t self, int64_t size, const int64_t *cut,
                                  mst_routes *out) {
    builder b = {.stages = stages, .self = self, .r = out};
    return make_parts(&b, cut, false, size);
}

void mst_routes_free(mst_routes *routes) {
    free(routes->step);
    free(routes->in);
    free(routes->out);
    free(routes->piece);
    free(routes->sum);
    free(routes->term);
    *routes = (mst_routes){0};
}
