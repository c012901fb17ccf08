/* Gradients between memory domains, a part of the lowering of apply_gradients.
 *
 * If several domains keep the variables, gradients are exchanged in buckets: runs of variables from the last to the
 * first. The units of a bucket are divided among the domains. The units of each domain are cut into as many pieces as
 * the largest domain has devices. Each domain sends the sums over its own shards to the owner of a piece: one value for
 * each node of the tree (base/shard_tree.h) that its shards make up. The owner adds up these values and sends the sum
 * to all domains. The devices of a domain take turns, both for the pieces that the domain owns and for the pieces that
 * it sends:
 *
 *                domain 0, shards 0..3       domain 1, shards 4..7
 *
 *    piece 0     device 0  [ 0..3 + 4..7 ] <------- [ 4..7 ]  device 4
 *    piece 1     device 1  [ 0..3 + 4..7 ] <------- [ 4..7 ]  device 5
 *      ...
 *    piece 4     device 0  [ 0..3 ] -------> [ 0..3 + 4..7 ]  device 4
 *      ...
 *
 * Sparse gradients go the same way. A piece is then a range of row indices, and its sum is the sum of the rows in this
 * range (merge_rows). Only rows that exist are copied (cross.c).
 *
 * If the variables are in one domain, as with towers, the other domains send their sums to it in the same way: one sum
 * for each node of the tree.
 *
 * The bits do not depend on the device that adds up a piece: every sum is over a node of the tree over all shards. */
#include "base/no_memory.h"
#include "op/state/state_parts.h"
#include "plan/ops.h"
#include "plan/task_sums.h"
#include "plan/update_lowering.h"
#include "plan/update_ops.h"

/* Parts of a gradient in one domain that together make up a node of the tree. */
typedef struct window {
    mst_shards shards;
    int32_t first, count; /* its parts */
} window;

/* A piece of a variable's gradient: elements FIRST to END - 1. */
typedef struct range {
    int64_t first, end;
} range;

/* Values to be added up; each is the sum over a node of the tree. */
typedef struct terms {
    mst_gradient_part *part;
    int32_t count;
} terms;

static mst_domain *domain_of(const mst_lowering *l, const mst_gradient_part *part) {
    return mst_plan_domain(l->plan, mst_lowering_device(l, part->value));
}

/* Elements in a row of a variable whose gradient is sparse. */
static int64_t num_columns(const mst_lowering *l, const mst_variable_update *v) {
    const mst_shape shape = *mst_lowering_shape(l, v);
    return mst_shape_count(shape) / shape.dim[0];
}

/* Fills OUT, which has room for all parts of V, with the windows of V. Returns their number. */
static int32_t find_windows(const mst_lowering *l, const mst_variable_update *v, window *out) {
    int32_t count = 0;
    for (int32_t first = 0, end; first < v->num_parts; first = end) {
        const mst_domain *domain = domain_of(l, &v->parts[first]);
        for (end = first + 1; end < v->num_parts && domain_of(l, &v->parts[end]) == domain;) end++;
        const mst_shards last = v->parts[end - 1].leaf;
        for (int32_t p = first; p < end;) {
            window *w = &out[count++];
            w->shards = mst_shards_within(v->parts[p].leaf.first, last.first + last.count, l->options->num_shards);
            w->first = p;
            while (p < end && v->parts[p].leaf.first < w->shards.first + w->shards.count) p++;
            w->count = p - w->first;
        }
    }
    return count;
}

/* ---- sums ---- */

/* Adds PART to the terms of a sum. For a dense gradient it adds only the elements in R. */
static mst_status add_term(mst_lowering *l, const mst_variable_update *v, range r, const mst_gradient_part *part,
                           terms *out) {
    mst_gradient_part *term = &out->part[out->count++];
    *term = *part;
    if (v->kind == MST_GRADIENT_SPARSE) return MST_OK;
    const int64_t count = r.end - r.first;
    const mst_piece_options piece = {.offset = r.first};
    const mst_spec spec = {.dtype = l->plan->value[part->value].spec.dtype, .shape = mst_shape_make(1, &count)};
    const mst_lowered cut = {&mst_op_piece, "piece", &piece, 1,
                             &part->value,  1,       &spec,  mst_lowering_device(l, part->value)};
    return mst_lowering_node(l, &cut, &term->value);
}

/* Adds the node that merges the rows in R of all terms into their sum. */
static mst_status add_merge(mst_lowering *l, const mst_variable_update *v, range r, const terms *t, int32_t num_shards,
                            const mst_shards *leaf, int32_t device, mst_gradient_part *out) {
    const int64_t columns = num_columns(l, v);
    const mst_merge_rows_options options = {
        .num_shards = num_shards, .leaf = leaf, .first_row = r.first / columns, .end_row = r.end / columns};
    int32_t *src = mst_lowering_alloc(l, 2 * (size_t)t->count, sizeof *src);
    if (!src) return MST_NO_MEMORY("for an update");
    int64_t bound = 0;
    for (int32_t i = 0; i < t->count; i++) {
        src[2 * i] = t->part[i].value;
        src[2 * i + 1] = t->part[i].second;
        bound += l->plan->value[t->part[i].value].spec.shape.dim[0];
    }
    if (bound > options.end_row - options.first_row) bound = options.end_row - options.first_row;
    const mst_lowered merge = {
        .op = &mst_op_merge_rows, .options = &options, .num_src = 2 * t->count, .src = src, .device = device};
    return mst_lowering_rows(l, v, merge, bound, out);
}

/* Adds the node that sums, on DEVICE, a gradient's elements in R over NODE. The terms together cover NODE. */
static mst_status add_sum(mst_lowering *l, const mst_variable_update *v, range r, const terms *t, mst_shards node,
                          int32_t device, mst_gradient_part *out) {
    mst_shards *leaf = mst_lowering_alloc(l, (size_t)t->count, sizeof *leaf);
    int32_t *src = mst_lowering_alloc(l, (size_t)t->count, sizeof *src);
    if (!leaf || !src) return MST_NO_MEMORY("for an update");
    for (int32_t i = 0; i < t->count; i++) {
        leaf[i] = (mst_shards){t->part[i].leaf.first - node.first, t->part[i].leaf.count};
        src[i] = t->part[i].value;
    }
    out->leaf = node;
    if (v->kind == MST_GRADIENT_SPARSE) return add_merge(l, v, r, t, node.count, leaf, device, out);
    const mst_sum_leaves_options options = {.num_shards = node.count, .leaf = leaf};
    const mst_spec spec = l->plan->value[src[0]].spec;
    const mst_lowered sum = {&mst_op_sum_leaves, "sum", &options, t->count, src, 1, &spec, device};
    return mst_lowering_node(l, &sum, &out->value);
}

static mst_status alloc_terms(mst_lowering *l, int32_t most, terms *out) {
    out->count = 0;
    out->part = mst_lowering_alloc(l, (size_t)most, sizeof *out->part);
    return out->part ? MST_OK : MST_NO_MEMORY("for an update");
}

/* Sets OUT to the sum over window W of a gradient's elements in R. TURN chooses which of the window's devices computes
 * it. */
static mst_status sum_window(mst_lowering *l, const mst_variable_update *v, range r, const window *w, int32_t turn,
                             mst_gradient_part *out) {
    const int32_t device = mst_lowering_device(l, v->parts[w->first + turn % w->count].value);
    terms t;
    MST_TRY(alloc_terms(l, w->count, &t));
    for (int32_t p = w->first; p < w->first + w->count; p++) MST_TRY(add_term(l, v, r, &v->parts[p], &t));
    return add_sum(l, v, r, &t, w->shards, device, out);
}

/* ---- several domains that keep the variables: reduce_scatter and all_gather ---- */

/* The domain and the device that sum the next piece of a bucket. */
typedef struct owner {
    int32_t domain; /* number in the set */
    int32_t turn;   /* number of the device in each domain, modulo the domain's size; from 0 to most_devices - 1 */
} owner;

/* Adds the nodes that sum the piece R of V on its owner. */
static mst_status add_piece(mst_lowering *l, mst_variable_update *v, const window *windows, int32_t num_windows,
                            range r, owner by) {
    const mst_update_set *s = &l->sets[v->set];
    const int32_t first = s->domain_start[by.domain], count = s->domain_start[by.domain + 1] - first;
    const int32_t device = s->ordered[first + by.turn % count];
    const mst_domain *here = mst_plan_domain(l->plan, device);
    const bool whole = r.end - r.first == mst_shape_count(*mst_lowering_shape(l, v));
    terms t;
    MST_TRY(alloc_terms(l, v->num_parts, &t));
    for (int32_t i = 0; i < num_windows; i++) {
        const window *w = &windows[i];
        const bool local = domain_of(l, &v->parts[w->first]) == here;
        const bool ready = w->count == 1 && (v->kind == MST_GRADIENT_DENSE || whole);
        for (int32_t p = w->first; p < w->first + w->count && (local || ready); p++)
            MST_TRY(add_term(l, v, r, &v->parts[p], &t));
        if (!local && !ready) MST_TRY(sum_window(l, v, r, w, by.turn, &t.part[t.count++]));
    }
    mst_gradient_sum *out = &v->pieces[v->num_pieces++];
    out->first = r.first;
    if (t.count == 1 && (v->kind == MST_GRADIENT_DENSE || whole)) {
        out->part = t.part[0];
        return MST_OK;
    }
    return add_sum(l, v, r, &t, (mst_shards){0, l->options->num_shards}, device, &out->part);
}

/* The bytes of a bucket of gradients of a set's variables, and how many of them have an owner. */
typedef struct bucket {
    int64_t bytes, done;
} bucket;

/* Cuts SIZE into COUNT equal parts, and returns the number of the part that has position AT. *REST is the position
 * within that part, scaled so that a part too has length SIZE. */
static int32_t part_at(int64_t at, int64_t size, int32_t count, int64_t *rest) {
    int64_t part = size ? at * count / size : 0;
    if (part >= count) part = count - 1;
    *rest = at * count - part * size;
    return (int32_t)part;
}

static owner next_owner(const mst_update_set *s, const bucket *b) {
    int64_t rest;
    owner by;
    by.domain = part_at(b->done, b->bytes, s->num_domains, &rest);
    by.turn = part_at(rest, b->bytes, s->most_devices, &rest);
    return by;
}

/* Bytes of a variable's gradient; of a sparse gradient, an upper bound. */
static int64_t bytes_of(const mst_lowering *l, const mst_variable_update *v) {
    const mst_spec *spec = &l->plan->value[v->parts[0].value].spec;
    return mst_shape_count(spec->shape) * (int64_t)mst_dtype_size(spec->dtype);
}

/* Cuts a variable's gradient into pieces with one owner each. */
static mst_status scatter_variable(mst_lowering *l, mst_variable_update *v, bucket *b) {
    const mst_shape *shape = mst_lowering_shape(l, v);
    const mst_update_set *s = &l->sets[v->set];
    const int64_t units = mst_num_units(*shape), each = mst_unit_elements(*shape), count = mst_shape_count(*shape);
    const int64_t row = v->kind == MST_GRADIENT_SPARSE ? num_columns(l, v) : 1, done = b->done;
    window *windows = mst_lowering_alloc(l, (size_t)v->num_parts, sizeof *windows);
    v->pieces = mst_lowering_alloc(l, (size_t)units + 1, sizeof *v->pieces);
    if (!v->pieces || !windows) return MST_NO_MEMORY("for an update");
    const int32_t num_windows = find_windows(l, v, windows);
    int64_t first = 0;
    owner by = {0, 0};
    for (int64_t u = 0; u <= units; u++) {
        int64_t at = u * each < count ? u * each : count;
        at -= at % row;
        b->done = done + (int64_t)((double)bytes_of(l, v) * ((double)at / (double)(count ? count : 1)));
        const owner next = next_owner(s, b);
        if (at > first && (u == units || next.domain != by.domain || next.turn != by.turn)) {
            MST_TRY(add_piece(l, v, windows, num_windows, (range){first, at}, by));
            first = at;
        }
        by = next;
    }
    return MST_OK;
}

/* Fills the buckets from the last variable to the first: the order in which gradients become ready. */
static mst_status scatter(mst_lowering *l, int32_t set) {
    for (int32_t last = l->options->num_variables - 1; last >= 0;) {
        bucket b = {0};
        int32_t v = last;
        for (; v >= 0 && b.bytes < MST_BUCKET_BYTES; v--)
            if (l->variables[v].set == set) b.bytes += bytes_of(l, &l->variables[v]);
        for (int32_t k = last; k > v; k--)
            if (l->variables[k].set == set) MST_TRY(scatter_variable(l, &l->variables[k], &b));
        last = v;
    }
    return MST_OK;
}

/* ---- one domain that keeps them ---- */

static bool is_all_in(const mst_lowering *l, const mst_variable_update *v, const mst_domain *domain) {
    bool all = true;
    for (int32_t p = 0; p < v->num_parts && all; p++) all = domain_of(l, &v->parts[p]) == domain;
    return all;
}

/* Replaces parts of a gradient in other domains by their sums, which are computed there. */
static mst_status join_windows(mst_lowering *l, mst_variable_update *v) {
    const mst_domain *here = mst_plan_domain(l->plan, l->sets[v->set].device[0]);
    const range all = {0, mst_shape_count(*mst_lowering_shape(l, v))};
    if (is_all_in(l, v, here)) return MST_OK;
    window *windows = mst_lowering_alloc(l, (size_t)v->num_parts, sizeof *windows);
    terms joined;
    if (!windows) return MST_NO_MEMORY("for an update");
    MST_TRY(alloc_terms(l, v->num_parts, &joined));
    const int32_t num_windows = find_windows(l, v, windows);
    for (int32_t i = 0; i < num_windows; i++) {
        const window *w = &windows[i];
        if (w->count > 1 && domain_of(l, &v->parts[w->first]) != here) {
            MST_TRY(sum_window(l, v, all, w, (int32_t)(v - l->variables), &joined.part[joined.count++]));
            continue;
        }
        for (int32_t p = w->first; p < w->first + w->count; p++) joined.part[joined.count++] = v->parts[p];
    }
    v->parts = joined.part;
    v->num_parts = joined.count;
    return MST_OK;
}

/* ---- several tasks ---- */

/* Sums the gradient over each leaf L = 0, 1, ... of this task's window, in the domain of the set's first device.
 * VALUE[L] is the sum; for a sparse gradient SECOND[L] has the indices of its rows. */
static mst_status sum_task_leaves(mst_lowering *l, mst_variable_update *v, int32_t *value, int32_t *second) {
    const int32_t device = l->sets[v->set].device[0], end = l->window.first + l->window.count;
    const range all = {0, mst_shape_count(*mst_lowering_shape(l, v))};
    int32_t p = 0;
    MST_TRY(join_windows(l, v));
    for (int32_t first = l->window.first; first < end;) {
        const mst_shards leaf = mst_shards_within(first, end, l->options->num_shards);
        mst_gradient_part sum;
        terms t;
        first += leaf.count;
        if (v->parts[p].leaf.count == leaf.count) {
            sum = v->parts[p++];
        } else {
            MST_TRY(alloc_terms(l, v->num_parts, &t));
            while (p < v->num_parts && v->parts[p].leaf.first < first) MST_TRY(add_term(l, v, all, &v->parts[p++], &t));
            MST_TRY(add_sum(l, v, all, &t, leaf, device, &sum));
        }
        *value++ = sum.value;
        if (v->kind == MST_GRADIENT_SPARSE) *second++ = sum.second;
    }
    return MST_OK;
}

/* Makes SUM the gradient of V over all shards. With sharded state it is the gradient of this task's part of V. */
static mst_status take_sum(mst_lowering *l, mst_variable_update *v, mst_gradient_part sum) {
    v->pieces = mst_lowering_alloc(l, 1, sizeof *v->pieces);
    if (!v->pieces) return MST_NO_MEMORY("for an update");
    sum.leaf = (mst_shards){0, l->options->num_shards};
    v->num_pieces = 1;
    v->pieces[0].part = sum;
    if (l->parts) (void)mst_apply_own(l->options, l->parts, (int32_t)(v - l->variables), &v->pieces[0].first);
    return MST_OK;
}

/* Whether V is one of the set's variables and its gradient is of KIND. */
static bool is_of(const mst_variable_update *v, int32_t set, mst_gradient_kind kind) {
    return v->set == set && v->kind == kind;
}

/* Exchanges the gradients of KIND of the set's variables FIRST to LAST. */
static mst_status exchange_bucket(mst_lowering *l, int32_t set, mst_gradient_kind kind, int32_t first, int32_t last) {
    const mst_task_group *group = l->plan->host->group;
    const int32_t arrays = kind == MST_GRADIENT_SPARSE ? 2 : 1, most = arrays * (last - first + 1);
    const int32_t leaves = mst_group_leaves(group, mst_group_self(group), NULL);
    int32_t *leaf = mst_lowering_alloc(l, (size_t)most * (size_t)leaves, sizeof *leaf);
    int32_t *sum = mst_lowering_alloc(l, (size_t)most, sizeof *sum);
    int64_t *num_rows = mst_lowering_alloc(l, (size_t)most, sizeof *num_rows);
    if (!leaf || !sum || !num_rows) return MST_NO_MEMORY("for an update");
    mst_plan_sums sums = {.name = mst_arena_print(&l->plan->memory, "%s/%s", l->plan->node[l->node].name,
                                                  arrays == 2 ? "rows" : "gradients"),
                          .device = l->sets[set].device[0],
                          .num_leaves = leaves,
                          .leaf = leaf,
                          .num_rows = arrays == 2 ? num_rows : NULL};
    if (!sums.name) return MST_NO_MEMORY("for an update");
    for (int32_t v = last; v >= first; v--) {
        if (!is_of(&l->variables[v], set, kind)) continue;
        int32_t *to = leaf + leaves * sums.num_values;
        MST_TRY(sum_task_leaves(l, &l->variables[v], to, to + leaves));
        num_rows[sums.num_values / arrays] = mst_lowering_shape(l, &l->variables[v])->dim[0];
        sums.num_values += arrays;
    }
    if (sums.num_values == 0) return MST_OK;
    if (l->parts) {
        sums.kind = MST_EXCHANGE_SCATTER;
        sums.begin = mst_lowering_bucket_parts(l, first, last);
        if (!sums.begin) return MST_NO_MEMORY("for an update");
    }
    MST_TRY(mst_plan_add_exchange(l->plan, &sums, sum));
    for (int32_t v = last; v >= first; v--) {
        if (!is_of(&l->variables[v], set, kind)) continue;
        MST_TRY(take_sum(l, &l->variables[v], (mst_gradient_part){.value = sum[0], .second = sum[arrays - 1]}));
        sum += arrays;
    }
    return MST_OK;
}

mst_status mst_lowering_exchange_rows(mst_lowering *l, int32_t set) {
    return exchange_bucket(l, set, MST_GRADIENT_SPARSE, 0, l->options->num_variables - 1);
}

int32_t mst_lowering_bucket(const mst_lowering *l, int32_t set, int32_t last) {
    int64_t bytes = 0;
    int32_t v = last;
    for (; v >= 0 && bytes < MST_BUCKET_BYTES; v--)
        if (is_of(&l->variables[v], set, MST_GRADIENT_DENSE)) bytes += bytes_of(l, &l->variables[v]);
    return v + 1;
}

/* Exchanges the buckets of a set, from the last variable to the first, then the rows of all its sparse gradients. */
static mst_status exchange_tasks(mst_lowering *l, int32_t set) {
    const int32_t num = l->options->num_variables;
    for (int32_t last = num - 1, first; last >= 0; last = first - 1) {
        first = mst_lowering_bucket(l, set, last);
        MST_TRY(exchange_bucket(l, set, MST_GRADIENT_DENSE, first, last));
    }
    return mst_lowering_exchange_rows(l, set);
}

mst_status mst_lowering_exchange(mst_lowering *l, int32_t set) {
    if (mst_lowering_compiles(l, set)) {
        MST_TRY(mst_lowering_buckets(l, set));
        return mst_lowering_is_part(l) ? mst_lowering_exchange_rows(l, set) : MST_OK;
    }
    if (mst_lowering_is_part(l)) return exchange_tasks(l, set);
    if (l->sets[set].num_domains > 1) return scatter(l, set);
    for (int32_t v = 0; v < l->options->num_variables; v++)
        if (l->variables[v].set == set && l->variables[v].kind != MST_GRADIENT_PRODUCT)
            MST_TRY(join_windows(l, &l->variables[v]));
    return MST_OK;
}
