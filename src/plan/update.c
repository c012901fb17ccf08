/* The lowering of apply_gradients, a part of the pass distribute.
 *
 * Variables that the same devices keep are updated together, each where it is. Among the devices of one memory domain
 * the update is one node that all of them run, each its part of the units (op/update.h), reading the gradients of all
 * shards where they are:
 *
 *    device 0   shard 0 -> gradients --+          update, part 0 -> both copies
 *                                      +- gate -<
 *    device 1   shard 1 -> gradients --+          update, part 1 -> both copies
 *
 * Between domains gradients go in buckets: each domain sends the sums of whole subtrees of its shards to the domain
 * that owns a piece of the bucket, which completes the sum of the piece and sends it to the others (reduce_scatter,
 * all_gather of the sums); then each domain makes the whole update. Buckets are cut by bytes, so that what is added
 * where does not depend on anything but the tree over the shards. */
#include <stdlib.h>
#include <string.h>

#include "muster/ops.h"
#include "op/apply_gradients.h"
#include "op/gather.h"
#include "op/update.h"
#include "optimizer/rule.h"
#include "plan/distribute.h"
#include "plan/ops.h"

extern const mst_op mst_op_add, mst_op_assign, mst_op_gather_grad, mst_op_identity, mst_op_matmul, mst_op_reduce_sum;

static mst_status no_memory(void) {
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for an update");
}

/* Some shards of a variable's gradient, and the value that holds their sum. */
typedef struct part {
    mst_leaf leaf;
    int32_t value;
} part;

/* One variable of the update that is lowered. */
typedef struct variable {
    int32_t source; /* in apply_gradients: of the variable itself */
    int32_t set;
    mst_gradient_kind kind;
    int32_t num_parts;
    part *parts;
    int32_t num_pieces; /* of its sum, where that comes from several domains */
    int32_t *piece;     /* values */
    int64_t *first;     /* elements */
} variable;

/* Variables that the same devices keep. */
typedef struct set {
    const mst_mirror_devices *mirrored; /* NULL: one device */
    int32_t num_devices;
    const int32_t *device;
    int32_t num_domains;
    int32_t *domain_start; /* [num_domains + 1], in `ordered` */
    int32_t *ordered;      /* the devices, those of a domain side by side */
} set;

typedef struct lowering {
    mst_distribution *d;
    mst_plan *plan;
    int32_t node;
    const mst_apply_options *options;
    const int32_t *src; /* of the node */
    variable *variables;
    set *sets;
    int32_t num_sets, set_capacity;
    int32_t scalars;  /* value */
    int32_t *control; /* nodes that make up the update */
    int64_t num_control, control_capacity;
    int32_t penalty; /* value of the sum of penalties so far, -1 */
} lowering;

static void *alloc(lowering *l, size_t count, size_t size) {
    return mst_arena_alloc(&l->plan->memory, (count ? count : 1) * size);
}

static int32_t maker(const lowering *l, int32_t value) {
    return l->plan->value[value].node;
}

static int32_t device_of(const lowering *l, int32_t value) {
    return l->plan->node[maker(l, value)].device;
}

static const mst_shape *shape_of(const lowering *l, const variable *v) {
    return &l->plan->value[l->src[v->source]].spec.shape;
}

static const mst_variable_options *variable_options(const lowering *l, const variable *v) {
    return l->plan->node[maker(l, l->src[v->source])].options;
}

static int num_written(const mst_apply_options *o) {
    return mst_apply_per_variable(o) - o->num_shards;
}

static int32_t gradient_of(const lowering *l, const variable *v, int32_t shard) {
    return l->src[v->source + num_written(l->options) + shard];
}

static bool has_penalty(const lowering *l, const variable *v) {
    const mst_variable_options *o = variable_options(l, v);
    return o->l1 != 0 || o->l2 != 0;
}

static bool clips_by_norm(const lowering *l) {
    return l->options->optimizer.clip_norm > 0 || l->options->optimizer.clip_global_norm > 0;
}

static mst_status add_node(lowering *l, const mst_op *op, const char *name, const void *options, size_t options_size,
                           int num_src, const int32_t *src, int num_dst, const mst_spec *dst, int32_t device,
                           int32_t *out) {
    const mst_plan_node node = {.op = op,
                                .name = mst_arena_print(&l->plan->memory, "%s/%s", l->plan->node[l->node].name, name),
                                .options = options ? mst_arena_copy(&l->plan->memory, options, options_size) : NULL,
                                .asked = "",
                                .num_src = num_src,
                                .num_dst = num_dst,
                                .device = device,
                                .group = -1};
    if (!node.name || (options && !node.options)) return no_memory();
    return mst_plan_add(l->plan, &node, src, dst, out);
}

/* ---- where variables are ---- */

static mst_status split_domains(lowering *l, set *s) {
    s->ordered = alloc(l, (size_t)s->num_devices, sizeof *s->ordered);
    s->domain_start = alloc(l, (size_t)s->num_devices + 1, sizeof *s->domain_start);
    bool *taken = alloc(l, (size_t)s->num_devices, sizeof *taken);
    if (!s->ordered || !s->domain_start || !taken) return no_memory();
    int32_t count = 0;
    for (int32_t i = 0; i < s->num_devices; i++) {
        if (taken[i]) continue;
        s->domain_start[s->num_domains++] = count;
        for (int32_t k = i; k < s->num_devices; k++) {
            if (taken[k] || mst_plan_domain(l->plan, s->device[k]) != mst_plan_domain(l->plan, s->device[i])) continue;
            taken[k] = true;
            s->ordered[count++] = s->device[k];
        }
    }
    s->domain_start[s->num_domains] = count;
    return MST_OK;
}

static mst_status find_set(lowering *l, int32_t value, int32_t *out) {
    const mst_mirror *mirror = mst_distribution_mirror(l->d, value);
    const int32_t device = device_of(l, value);
    for (int32_t i = l->num_sets - 1; i >= 0; i--) {
        const set *s = &l->sets[i];
        *out = i;
        if (mirror ? s->mirrored == mirror->devices : !s->mirrored && s->device[0] == device) return MST_OK;
    }
    int64_t capacity = l->set_capacity;
    MST_TRY(mst_grow(&l->sets, sizeof *l->sets, l->num_sets + 1, &capacity));
    l->set_capacity = (int32_t)capacity;
    set *s = &l->sets[l->num_sets];
    *s = (set){.mirrored = mirror ? mirror->devices : NULL,
               .num_devices = mirror ? mirror->devices->count : 1,
               .device = mirror ? mirror->devices->device : mst_arena_copy(&l->plan->memory, &device, sizeof device)};
    if (!s->device) return no_memory();
    MST_TRY(split_domains(l, s));
    *out = l->num_sets++;
    return MST_OK;
}

/* ---- gradients ---- */

/* A matrix product A^T B that nothing but the update needs: its units can be made where they are used. */
static bool is_product(const lowering *l, int32_t value, const mst_plan_node **out) {
    const mst_plan_node *node = &l->plan->node[maker(l, value)];
    *out = node;
    if (node->op != &mst_op_matmul || l->plan->value[value].num_uses != 1 || node->num_control) return false;
    const mst_matmul_options *o = node->options;
    const mst_spec *spec = &l->plan->value[value].spec, *a = &l->plan->value[node->src[0]].spec;
    return o->transpose_a && !o->transpose_b && spec->dtype == MST_F32 && spec->shape.ndim == 2 && a->shape.ndim == 2 &&
           l->plan->value[node->src[1]].spec.shape.ndim == 2 && a->shape.dim[0] > 0 && mst_shape_count(spec->shape) > 0;
}

static bool is_among(const set *s, int32_t device) {
    if (s->mirrored) return s->mirrored->place[device] >= 0;
    return s->device[0] == device;
}

/* Worth it where the factors of all shards, which must be kept until the update, are no larger than the gradients that
 * need not be: one on each device. */
static bool are_products(const lowering *l, const variable *v) {
    const set *s = &l->sets[v->set];
    const mst_plan_node *node;
    int64_t factors = 0;
    if (s->num_domains > 1 || clips_by_norm(l) || l->plan->host->options->check_numerics || l->options->masters)
        return false;
    for (int32_t i = 0; i < l->options->num_shards; i++) {
        const int32_t gradient = gradient_of(l, v, i);
        if (!is_product(l, gradient, &node) || !is_among(s, node->device)) return false;
        for (int k = 0; k < 2; k++) factors += mst_plan_bytes(&l->plan->value[node->src[k]]);
    }
    return factors <= s->num_devices * mst_plan_bytes(&l->plan->value[gradient_of(l, v, 0)]);
}

/* The gradient of gather: rows and indices. */
static bool are_sparse(const lowering *l, const variable *v) {
    for (int32_t i = 0; i < l->options->num_shards; i++) {
        const mst_plan_node *node = &l->plan->node[maker(l, gradient_of(l, v, i))];
        if (node->op != &mst_op_gather_grad || ((const mst_gather_options *)node->options)->axis != 0) return false;
        if (mst_shape_count(*shape_of(l, v)) == 0) return false;
    }
    return true;
}

/* The sum of shards FIRST to FIRST + COUNT - 1, a whole subtree whose gradients are in one domain. */
static mst_status add_subtree(lowering *l, const variable *v, int32_t first, int32_t count, int32_t *out) {
    if (count == 1) {
        *out = gradient_of(l, v, first);
        return MST_OK;
    }
    int32_t pair[2], added;
    const int32_t half = mst_tree_half(count);
    MST_TRY(add_subtree(l, v, first, half, &pair[0]));
    MST_TRY(add_subtree(l, v, first + half, count - half, &pair[1]));
    const mst_spec spec = l->plan->value[pair[0]].spec;
    MST_TRY(add_node(l, &mst_op_add, "sum", NULL, 0, 2, pair, 1, &spec, device_of(l, pair[0]), &added));
    *out = l->plan->node[added].dst;
    return MST_OK;
}

/* Those whose gradients may be added up before they are sent on: of one device, or of one domain where there are
 * several domains. */
static bool are_together(const lowering *l, const variable *v, int32_t a, int32_t b) {
    const int32_t x = device_of(l, gradient_of(l, v, a)), y = device_of(l, gradient_of(l, v, b));
    if (x == y || l->sets[v->set].num_domains == 1) return x == y;
    return mst_plan_domain(l->plan, x) == mst_plan_domain(l->plan, y);
}

/* Cuts shards FIRST to FIRST + COUNT - 1 of the tree into the largest subtrees that are together. */
static mst_status collect_parts(lowering *l, variable *v, int32_t first, int32_t count) {
    bool together = true;
    for (int32_t i = 1; i < count && together; i++) together = are_together(l, v, first, first + i);
    if (!together) {
        const int32_t half = mst_tree_half(count);
        MST_TRY(collect_parts(l, v, first, half));
        return collect_parts(l, v, first + half, count - half);
    }
    part *p = &v->parts[v->num_parts++];
    p->leaf = (mst_leaf){first, count};
    return add_subtree(l, v, first, count, &p->value);
}

static mst_status find_parts(lowering *l, variable *v) {
    const int32_t shards = l->options->num_shards;
    v->parts = alloc(l, (size_t)shards, sizeof *v->parts);
    if (!v->parts) return no_memory();
    v->kind = are_products(l, v) ? MST_GRADIENT_PRODUCT : are_sparse(l, v) ? MST_GRADIENT_SPARSE : MST_GRADIENT_DENSE;
    if (v->kind == MST_GRADIENT_DENSE) return collect_parts(l, v, 0, shards);
    for (int32_t s = 0; s < shards; s++) v->parts[v->num_parts++] = (part){{s, 1}, gradient_of(l, v, s)};
    return MST_OK;
}

/* ---- between domains: reduce_scatter and all_gather ---- */

enum { BUCKET_BYTES = 4 << 20 };

/* Elements FIRST to FIRST + COUNT - 1 of a variable's gradient, summed on DEVICE. */
static mst_status sum_piece(lowering *l, const variable *v, int64_t first, int64_t count, int32_t device,
                            int32_t *out) {
    const mst_spec spec = {.dtype = l->plan->value[v->parts[0].value].spec.dtype, .shape = mst_shape_make(1, &count)};
    int32_t *src = alloc(l, (size_t)v->num_parts, sizeof *src), added;
    mst_leaf *leaf = alloc(l, (size_t)v->num_parts, sizeof *leaf);
    if (!src || !leaf) return no_memory();
    for (int32_t i = 0; i < v->num_parts; i++) {
        const mst_piece_options piece = {.offset = first};
        MST_TRY(add_node(l, &mst_op_piece, "piece", &piece, sizeof piece, 1, &v->parts[i].value, 1, &spec,
                         device_of(l, v->parts[i].value), &added));
        src[i] = l->plan->node[added].dst;
        leaf[i] = v->parts[i].leaf;
    }
    const mst_sum_leaves_options options = {.num_shards = l->options->num_shards, .leaf = leaf};
    MST_TRY(
        add_node(l, &mst_op_sum_leaves, "sum", &options, sizeof options, v->num_parts, src, 1, &spec, device, &added));
    *out = l->plan->node[added].dst;
    return MST_OK;
}

/* A bucket of the gradients of a set's variables, and how much of it has an owner. */
typedef struct bucket {
    int64_t bytes, done;
} bucket;

/* Cuts a variable's gradient into pieces, each summed by the domain that owns it: the units of a bucket are shared out
 * among the domains in their order. */
static mst_status scatter_variable(lowering *l, variable *v, bucket *b) {
    const set *s = &l->sets[v->set];
    const int64_t units = mst_num_units(*shape_of(l, v)), each = mst_unit_elements(*shape_of(l, v));
    const int64_t count = mst_shape_count(*shape_of(l, v));
    const int64_t size = (int64_t)mst_dtype_size(l->plan->value[v->parts[0].value].spec.dtype);
    v->piece = alloc(l, (size_t)units + 1, sizeof *v->piece);
    v->first = alloc(l, (size_t)units + 1, sizeof *v->first);
    if (!v->piece || !v->first) return no_memory();
    int64_t first = 0;
    int32_t owner = -1;
    for (int64_t u = 0; u <= units; u++) {
        const int64_t share = b->bytes ? b->done * s->num_domains / b->bytes : 0;
        const int32_t next = (int32_t)(share < s->num_domains ? share : s->num_domains - 1);
        const int64_t at = u * each < count ? u * each : count;
        if (at > first && (u == units || next != owner)) {
            v->first[v->num_pieces] = first;
            MST_TRY(sum_piece(l, v, first, at - first, s->ordered[s->domain_start[owner]], &v->piece[v->num_pieces]));
            v->num_pieces++;
            first = at;
        }
        owner = next;
        if (u < units) b->done += ((u + 1) * each < count ? each : count - at) * size;
    }
    return MST_OK;
}

/* The variables from the last to the first: so their gradients become ready. */
static mst_status scatter_set(lowering *l, int32_t set_index) {
    const int32_t num = l->options->num_variables;
    for (int32_t last = num - 1; last >= 0;) {
        bucket b = {0};
        int32_t v = last;
        for (; v >= 0 && b.bytes < BUCKET_BYTES; v--)
            if (l->variables[v].set == set_index && l->variables[v].kind == MST_GRADIENT_DENSE)
                b.bytes += mst_shape_count(*shape_of(l, &l->variables[v])) *
                           (int64_t)mst_dtype_size(l->plan->value[l->variables[v].parts[0].value].spec.dtype);
        for (int32_t k = last; k > v; k--)
            if (l->variables[k].set == set_index && l->variables[k].kind == MST_GRADIENT_DENSE)
                MST_TRY(scatter_variable(l, &l->variables[k], &b));
        last = v;
    }
    return MST_OK;
}

/* ---- the nodes of one domain ---- */

typedef struct sources {
    int32_t *value;
    int64_t count, capacity;
} sources;

static mst_status push(sources *s, int32_t value) {
    MST_TRY(mst_grow(&s->value, sizeof *s->value, s->count + 1, &s->capacity));
    s->value[s->count++] = value;
    return MST_OK;
}

/* The devices of one domain that keep some variables, and the update that they make. */
typedef struct local {
    const set *set;
    int32_t index; /* of the set */
    int32_t num_devices;
    const int32_t *device;
    int32_t group;
    int64_t units; /* of all variables */
    mst_update_options options;
    mst_update_variable *variable;
    sources src;
} local;

/* A slot or average: one for the domain, of which each device works on its part. */
static mst_status push_slot(lowering *l, local *x, int32_t value) {
    const mst_plan_node *node = &l->plan->node[maker(l, value)];
    if (!x->set->mirrored) {
        l->plan->state[l->plan->value[value].index].group = x->group;
        return push(&x->src, value);
    }
    int32_t own;
    MST_TRY(mst_plan_add_state(l->plan, node->origin, x->device[0], true, x->group, &own));
    return push(&x->src, own);
}

static mst_status push_weights(lowering *l, local *x, const variable *v) {
    mst_mirror *mirror = mst_distribution_mirror(l->d, l->src[v->source]);
    if (!mirror) return push(&x->src, l->src[v->source]);
    for (int32_t i = 0; i < x->num_devices; i++) {
        int32_t value;
        MST_TRY(mst_distribution_copy(l->d, mirror, x->device[i], &value));
        MST_TRY(push(&x->src, value));
    }
    return MST_OK;
}

static mst_status push_gradient(lowering *l, local *x, const variable *v, mst_update_variable *out) {
    mst_leaf *leaf = alloc(l, (size_t)v->num_parts, sizeof *leaf);
    const int32_t pieces = v->num_pieces ? v->num_pieces : 1;
    mst_gradient_piece *piece = alloc(l, (size_t)pieces, sizeof *piece);
    if (!leaf || !piece) return no_memory();
    out->kind = v->kind;
    out->leaf = leaf;
    out->piece = piece;
    out->num_pieces = pieces;
    if (v->num_pieces) { /* sums over all shards */
        leaf[0] = (mst_leaf){0, l->options->num_shards};
        out->num_leaves = 1;
        for (int32_t i = 0; i < pieces; i++) {
            piece[i] = (mst_gradient_piece){v->first[i], (int32_t)x->src.count};
            MST_TRY(push(&x->src, v->piece[i]));
        }
        return MST_OK;
    }
    piece[0].source = (int32_t)x->src.count;
    out->num_leaves = v->num_parts;
    for (int32_t i = 0; i < v->num_parts; i++) {
        const mst_plan_node *node = &l->plan->node[maker(l, v->parts[i].value)];
        leaf[i] = v->parts[i].leaf;
        if (v->kind == MST_GRADIENT_DENSE) {
            MST_TRY(push(&x->src, v->parts[i].value));
            continue;
        }
        const int32_t first = node->src[0], second = node->src[1];
        MST_TRY(push(&x->src, first));
        MST_TRY(push(&x->src, second));
    }
    return MST_OK;
}

static mst_status push_variable(lowering *l, local *x, const variable *v) {
    const mst_apply_options *o = l->options;
    mst_update_variable *out = &x->variable[x->options.num_variables++];
    const mst_variable_options *variable = variable_options(l, v);
    *out = (mst_update_variable){.average = -1, .master = -1, .l1 = variable->l1, .l2 = variable->l2};
    out->weight = (int32_t)x->src.count;
    MST_TRY(push_weights(l, x, v));
    out->slot = (int32_t)x->src.count;
    for (int i = 1; i < num_written(o); i++) {
        if (i == o->num_slots + 1 && o->averages)
            out->average = (int32_t)x->src.count;
        else if (i > o->num_slots)
            out->master = (int32_t)x->src.count;
        MST_TRY(push_slot(l, x, l->src[v->source + i]));
    }
    x->units += mst_num_units(*shape_of(l, v));
    return push_gradient(l, x, v, out);
}

static mst_status collect_local(lowering *l, local *x) {
    x->variable = alloc(l, (size_t)l->options->num_variables, sizeof *x->variable);
    if (!x->variable) return no_memory();
    x->options = (mst_update_options){.optimizer = &l->options->optimizer,
                                      .factors = -1,
                                      .num_copies = x->set->mirrored ? x->num_devices : 1,
                                      .num_slots = l->options->num_slots,
                                      .num_shards = l->options->num_shards,
                                      .variable = x->variable};
    MST_TRY(push(&x->src, l->scalars));
    for (int32_t v = 0; v < l->options->num_variables; v++)
        if (l->variables[v].set == x->index) MST_TRY(push_variable(l, x, &l->variables[v]));
    return MST_OK;
}

static mst_status add_update(lowering *l, const local *x, mst_update_purpose purpose, const char *name, int32_t *out) {
    mst_update_options options = x->options;
    options.purpose = purpose;
    mst_spec spec = {
        .dtype = purpose == MST_UPDATE_NORMS ? MST_F64 : l->plan->value[l->plan->node[l->node].dst].spec.dtype,
        .shape = mst_shape_make(1, &x->units)};
    MST_TRY(add_node(l, &mst_op_update, name, &options, sizeof options, (int)x->src.count, x->src.value, 1, &spec,
                     x->device[0], out));
    l->plan->node[*out].group = x->group;
    l->plan->node[*out].writer = purpose == MST_UPDATE_STEP;
    return MST_OK;
}

/* Norms of all gradients, and from them the factor of each. */
static mst_status add_clipping(lowering *l, local *x) {
    int64_t *units = alloc(l, (size_t)x->options.num_variables, sizeof *units);
    int32_t norms, factors;
    if (!units) return no_memory();
    for (int32_t v = 0, k = 0; v < l->options->num_variables; v++)
        if (l->variables[v].set == x->index) units[k++] = mst_num_units(*shape_of(l, &l->variables[v]));
    MST_TRY(add_update(l, x, MST_UPDATE_NORMS, "norms", &norms));
    const mst_clip_factors_options options = {
        .optimizer = &l->options->optimizer, .num_variables = x->options.num_variables, .units = units};
    const int64_t count = x->options.num_variables;
    const mst_spec spec = {.dtype = MST_F64, .shape = mst_shape_make(1, &count)};
    MST_TRY(add_node(l, &mst_op_clip_factors, "clip", &options, sizeof options, 1, &l->plan->node[norms].dst, 1, &spec,
                     x->device[0], &factors));
    x->options.factors = (int32_t)x->src.count;
    return push(&x->src, l->plan->node[factors].dst);
}

/* The sum of the penalties of all units, added to what there is. */
static mst_status add_penalty(lowering *l, int32_t units_of) {
    const mst_spec spec = l->plan->value[l->plan->node[l->node].dst].spec;
    const mst_reduce_sum_options options = {0};
    int32_t added, pair[2] = {l->penalty, 0};
    const int32_t device = l->plan->node[units_of].device;
    MST_TRY(add_node(l, &mst_op_reduce_sum, "penalty", &options, sizeof options, 1, &l->plan->node[units_of].dst, 1,
                     &spec, device, &added));
    pair[1] = l->plan->node[added].dst;
    if (l->penalty >= 0) MST_TRY(add_node(l, &mst_op_add, "penalty", NULL, 0, 2, pair, 1, &spec, device, &added));
    l->penalty = l->plan->node[added].dst;
    return MST_OK;
}

static mst_status lower_local(lowering *l, local *x, bool wants_penalty) {
    int32_t step, penalties;
    MST_TRY(mst_plan_add_group(l->plan, x->device, x->num_devices, &x->group));
    MST_TRY(collect_local(l, x));
    if (clips_by_norm(l)) MST_TRY(add_clipping(l, x));
    MST_TRY(add_update(l, x, MST_UPDATE_STEP, "step", &step));
    MST_TRY(mst_grow(&l->control, sizeof *l->control, l->num_control + 1, &l->control_capacity));
    l->control[l->num_control++] = step;
    if (!wants_penalty) return MST_OK;
    /* of the update itself, where that is in the domain of the whole sum; else before it, so that nothing crosses once
     * variables are being written */
    const bool here = mst_plan_domain(l->plan, x->device[0]) ==
                      mst_plan_domain(l->plan, l->penalty >= 0 ? device_of(l, l->penalty) : x->device[0]);
    penalties = step;
    if (!here) MST_TRY(add_update(l, x, MST_UPDATE_PENALTIES, "penalties", &penalties));
    return add_penalty(l, penalties);
}

static mst_status lower_set(lowering *l, int32_t index) {
    const set *s = &l->sets[index];
    bool penalty = false;
    for (int32_t v = 0; v < l->options->num_variables; v++)
        penalty |= l->variables[v].set == index && has_penalty(l, &l->variables[v]);
    if (s->num_domains > 1) MST_TRY(scatter_set(l, index));
    for (int32_t i = 0; i < s->num_domains; i++) {
        local x = {.set = s,
                   .index = index,
                   .num_devices = s->domain_start[i + 1] - s->domain_start[i],
                   .device = s->ordered + s->domain_start[i]};
        mst_status status = lower_local(l, &x, penalty && i == 0);
        free(x.src.value);
        MST_TRY(status);
    }
    return MST_OK;
}

/* ---- the whole ---- */

/* Numbers of the step, and the next state of the rule. */
static mst_status add_scalars(lowering *l) {
    const mst_update_scalars_options options = {.optimizer = &l->options->optimizer};
    const int64_t count = MST_NUM_SCALARS;
    const mst_spec dst[2] = {{.dtype = MST_F64, .shape = mst_shape_make(1, &count)}, {.dtype = MST_F64}};
    const int32_t device = device_of(l, l->src[MST_APPLY_STEP]), state = l->src[MST_APPLY_STATE];
    int32_t added, assign;
    MST_TRY(
        add_node(l, &mst_op_update_scalars, "scalars", &options, sizeof options, 3, l->src, 2, dst, device, &added));
    l->scalars = l->plan->node[added].dst;
    if (!mst_rule_find(l->options->optimizer.rule)->next_state) return MST_OK;
    MST_TRY(add_node(l, &mst_op_assign, "state", NULL, 0, 2, (const int32_t[]){state, l->scalars + 1}, 1, &dst[1],
                     device_of(l, state), &assign));
    l->plan->node[assign].writer = true;
    MST_TRY(mst_grow(&l->control, sizeof *l->control, l->num_control + 1, &l->control_capacity));
    l->control[l->num_control++] = assign;
    return MST_OK;
}

/* The node becomes one that gives the penalty and comes after the whole update. */
static mst_status replace(lowering *l) {
    mst_plan_node *node = &l->plan->node[l->node];
    node->control = mst_arena_copy(&l->plan->memory, l->control, (size_t)l->num_control * sizeof *l->control);
    if (!node->control) return no_memory();
    node->num_control = (int32_t)l->num_control;
    node->op = &mst_op_identity;
    node->options = NULL;
    node->writer = false;
    node->num_src = l->penalty >= 0 ? 1 : 0;
    if (l->penalty >= 0) {
        node->src[0] = l->penalty;
        node->device = device_of(l, l->penalty);
        return MST_OK;
    }
    mst_plan_value *zero = &l->plan->value[node->dst];
    zero->space = MST_IN_CONSTANT;
    return mst_tensor_create(zero->spec.dtype, zero->spec.shape, &zero->constant);
}

static mst_status lower(lowering *l) {
    const int32_t num = l->options->num_variables;
    l->variables = calloc((size_t)num, sizeof *l->variables);
    if (!l->variables) return no_memory();
    MST_TRY(add_scalars(l));
    for (int32_t v = 0; v < num; v++) {
        variable *variable = &l->variables[v];
        variable->source = mst_apply_source(l->options, v);
        MST_TRY(find_set(l, l->src[variable->source], &variable->set));
    }
    for (int32_t v = 0; v < num; v++) MST_TRY(find_parts(l, &l->variables[v]));
    for (int32_t i = 0; i < l->num_sets; i++) MST_TRY(lower_set(l, i));
    return replace(l);
}

mst_status mst_distribute_update(mst_distribution *d, int32_t n) {
    const mst_plan_node *node = &d->plan->node[n];
    lowering l = {.d = d, .plan = d->plan, .node = n, .options = node->options, .src = node->src, .penalty = -1};
    mst_status status = lower(&l);
    free(l.variables);
    free(l.sets);
    free(l.control);
    return status ? mst_error_prefix("%s", d->plan->node[n].name) : MST_OK;
}
