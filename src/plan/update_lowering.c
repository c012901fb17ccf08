/* The lowering of apply_gradients, a part of the pass distribute.
 *
 * This file decides which devices keep which variables, adds the update nodes of each domain and the penalties, and
 * calls the other files:
 *
 *    update_scalars.c     numbers that are the same for all elements: rates, decays, the rule's state
 *    update_gradients.c   the kind of each gradient, and sums over the shards of a device
 *    update_exchange.c    sums over domains, and over tasks
 *    update_pairs.c       sums on devices that compile
 *    update_clip.c        clipping by norm
 *    update_constraint.c  constraints of the new weights
 *    update_shard.c       slots that are divided among the tasks
 *    update_ops.c         the ops of the nodes; in StableHLO: update_ops_hlo.c
 *
 * Variables that the same devices keep are updated together, each where it is. The update is one node for the devices
 * of one memory domain. Each device runs it for its part of the units (op/state/update.h), and reads the gradients of
 * all shards where they are:
 *
 *    device 0   shard 0 -> gradients --+          update, part 0 -> both copies
 *                                      +- gate -<
 *    device 1   shard 1 -> gradients --+          update, part 1 -> both copies
 *
 * Between domains gradients go in buckets. Each domain sends the sums of whole subtrees of its shards to the domain
 * that owns a piece of the bucket. The owner completes the sum of the piece and sends it to the others (reduce_scatter,
 * then all_gather of the sums). Then each domain makes the whole update. The bits do not depend on the device that adds
 * up a piece: every partial sum is over a whole subtree of the tree over all shards. */
#include "plan/update_lowering.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "muster/ops.h"
#include "op/list.h"
#include "plan/task_sums.h"
#include "plan/update_ops.h"
#include "rule/gradient_clip.h"

void *mst_lowering_alloc(mst_lowering *l, size_t count, size_t size) {
    return mst_arena_alloc(&l->plan->memory, (count ? count : 1) * size);
}

int32_t mst_lowering_maker(const mst_lowering *l, int32_t value) {
    return l->plan->value[value].node;
}

int32_t mst_lowering_device(const mst_lowering *l, int32_t value) {
    return l->plan->node[mst_lowering_maker(l, value)].device;
}

const mst_shape *mst_lowering_shape(const mst_lowering *l, const mst_variable_update *v) {
    return &l->plan->value[l->src[v->source]].spec.shape;
}

const mst_variable_options *mst_lowering_variable(const mst_lowering *l, const mst_variable_update *v) {
    return l->plan->node[mst_lowering_maker(l, l->src[v->source])].options;
}

static bool has_penalty(const mst_lowering *l, const mst_variable_update *v) {
    const mst_variable_options *o = mst_lowering_variable(l, v);
    return o->l1 != 0 || o->l2 != 0;
}

bool mst_lowering_is_part(const mst_lowering *l) {
    return l->window.count < l->options->num_shards;
}

bool mst_lowering_reads_variable(const mst_plan *plan, int num_src, const int32_t *src) {
    for (int i = 0; i < num_src; i++)
        if (mst_plan_is_variable(plan, src[i]) || plan->node[plan->value[src[i]].node].writer) return true;
    return false;
}

/* A node that reads or writes variables runs when apply_gradients would run: in the phase of apply_gradients, after its
 * control sources. The same holds for a view, because it may be a view of a variable. */
mst_status mst_lowering_node(mst_lowering *l, const mst_lowered *lowered, int32_t *out) {
    const mst_plan_node *applied = &l->plan->node[l->node];
    const mst_op *op = lowered->op;
    const bool ordered =
        (op->flags & MST_OP_VIEW) || mst_lowering_reads_variable(l->plan, lowered->num_src, lowered->src);
    const mst_plan_node node = {
        .op = op,
        .name = mst_arena_print(&l->plan->memory, "%s/%s", applied->name, lowered->name),
        .options = lowered->options ? mst_arena_copy(&l->plan->memory, lowered->options, op->options_size) : NULL,
        .asked = "",
        .num_src = lowered->num_src,
        .num_control = ordered ? applied->num_control : 0,
        .control = applied->control,
        .num_dst = lowered->num_dst,
        .device = lowered->device,
        .made = applied->made,
        .earliest = ordered ? applied->phase : 0,
        .group = -1};
    if (!node.name || (lowered->options && !node.options)) return MST_NO_MEMORY("for an update");
    int32_t added;
    MST_TRY(mst_plan_add(l->plan, &node, lowered->src, lowered->dst, &added));
    *out = l->plan->node[added].dst;
    return MST_OK;
}

mst_status mst_lowering_part(mst_lowering *l, int32_t node) {
    MST_TRY(mst_grow(&l->control, sizeof *l->control, l->num_control + 1, &l->control_capacity));
    l->control[l->num_control++] = node;
    return MST_OK;
}

/* ---- where variables are ---- */

static mst_status split_domains(mst_lowering *l, mst_update_set *s) {
    s->ordered = mst_lowering_alloc(l, (size_t)s->num_devices, sizeof *s->ordered);
    s->domain_start = mst_lowering_alloc(l, (size_t)s->num_devices + 1, sizeof *s->domain_start);
    bool *taken = mst_lowering_alloc(l, (size_t)s->num_devices, sizeof *taken);
    if (!s->ordered || !s->domain_start || !taken) return MST_NO_MEMORY("for an update");
    int32_t count = 0;
    for (int32_t i = 0; i < s->num_devices; i++) {
        if (taken[i]) continue;
        s->domain_start[s->num_domains++] = count;
        for (int32_t k = i; k < s->num_devices; k++) {
            if (taken[k] || mst_plan_domain(l->plan, s->device[k]) != mst_plan_domain(l->plan, s->device[i])) continue;
            taken[k] = true;
            s->ordered[count++] = s->device[k];
        }
        const int32_t here = count - s->domain_start[s->num_domains - 1];
        if (here > s->most_devices) s->most_devices = here;
    }
    s->domain_start[s->num_domains] = count;
    return MST_OK;
}

static mst_status find_set(mst_lowering *l, int32_t value, int32_t *out) {
    const mst_mirror *mirror = mst_distribute_mirror(l->d, value);
    const int32_t device = mst_lowering_device(l, value);
    for (int32_t i = l->num_sets - 1; i >= 0; i--) {
        const mst_update_set *s = &l->sets[i];
        *out = i;
        if (mirror ? s->mirrored == mirror->devices : !s->mirrored && s->device[0] == device) return MST_OK;
    }
    int64_t capacity = l->set_capacity;
    MST_TRY(mst_grow(&l->sets, sizeof *l->sets, l->num_sets + 1, &capacity));
    l->set_capacity = (int32_t)capacity;
    mst_update_set *s = &l->sets[l->num_sets];
    *s = (mst_update_set){
        .mirrored = mirror ? mirror->devices : NULL,
        .num_devices = mirror ? mirror->devices->count : 1,
        .device = mirror ? mirror->devices->device : mst_arena_copy(&l->plan->memory, &device, sizeof device)};
    if (!s->device) return MST_NO_MEMORY("for an update");
    MST_TRY(split_domains(l, s));
    *out = l->num_sets++;
    return MST_OK;
}

/* ---- the nodes of one domain ---- */

mst_status mst_lowering_push(mst_update_local *x, int32_t value) {
    MST_TRY(mst_grow(&x->src, sizeof *x->src, x->num_src + 1, &x->src_capacity));
    x->src[x->num_src++] = value;
    return MST_OK;
}

/* Adds a slot, average or master as a source. The domain has one copy, and each device works on its part of it. */
static mst_status push_slot(mst_lowering *l, mst_update_local *x, int32_t value) {
    mst_mirror *mirror = mst_distribute_mirror(l->d, value);
    if (mirror) MST_TRY(mst_distribute_copy(l->d, mirror, x->device[0], &value));
    l->plan->state[l->plan->value[value].index].group = x->group;
    return mst_lowering_push(x, value);
}

static mst_status push_weights(mst_lowering *l, mst_update_local *x, const mst_variable_update *v) {
    mst_mirror *mirror = mst_distribute_mirror(l->d, l->src[v->source]);
    if (!mirror) return mst_lowering_push(x, l->src[v->source]);
    for (int32_t i = 0; i < x->num_devices; i++) {
        int32_t value;
        MST_TRY(mst_distribute_copy(l->d, mirror, x->device[i], &value));
        MST_TRY(mst_lowering_push(x, value));
    }
    return MST_OK;
}

static mst_status push_part(mst_update_local *x, const mst_variable_update *v, const mst_gradient_part *part) {
    MST_TRY(mst_lowering_push(x, part->value));
    return v->kind == MST_GRADIENT_DENSE ? MST_OK : mst_lowering_push(x, part->second);
}

static mst_status push_gradient(mst_lowering *l, mst_update_local *x, const mst_variable_update *v,
                                mst_update_variable *out) {
    mst_shards *leaf = mst_lowering_alloc(l, (size_t)v->num_parts, sizeof *leaf);
    const int32_t pieces = v->num_pieces ? v->num_pieces : 1;
    mst_gradient_piece *piece = mst_lowering_alloc(l, (size_t)pieces, sizeof *piece);
    if (!leaf || !piece) return MST_NO_MEMORY("for an update");
    out->kind = v->kind;
    out->squares = v->squares;
    out->clipped = v->clipped;
    out->leaf = leaf;
    out->piece = piece;
    out->num_pieces = pieces;
    if (v->num_pieces) { /* the pieces are sums over all shards: one leaf */
        leaf[0] = (mst_shards){0, l->options->num_shards};
        out->num_leaves = 1;
        for (int32_t i = 0; i < pieces; i++) {
            piece[i] = (mst_gradient_piece){v->pieces[i].first, (int32_t)x->num_src};
            MST_TRY(push_part(x, v, &v->pieces[i].part));
        }
        return MST_OK;
    }
    piece[0].source = (int32_t)x->num_src;
    out->num_leaves = v->num_parts;
    for (int32_t i = 0; i < v->num_parts; i++) {
        leaf[i] = v->parts[i].leaf;
        MST_TRY(push_part(x, v, &v->parts[i]));
    }
    return MST_OK;
}

/* Whether the optimizer's weight_decay leaves V out: see decay_kernels_only. */
static bool is_undecayed(const mst_lowering *l, const mst_variable_update *v) {
    const char *name = l->plan->node[mst_lowering_maker(l, l->src[v->source])].name, *own = strrchr(name, '/');
    if (!l->options->optimizer.decay_kernels_only) return false;
    return mst_lowering_shape(l, v)->ndim < 2 || strcmp(own ? own + 1 : name, "embeddings") == 0;
}

static mst_status push_variable(mst_lowering *l, mst_update_local *x, const mst_variable_update *v) {
    const mst_apply_options *o = l->options;
    mst_update_variable *out = &x->variable[x->options.num_variables++];
    const mst_variable_options *variable = mst_lowering_variable(l, v);
    *out = (mst_update_variable){
        .number = (int32_t)(v - l->variables), .average = -1, .master = -1, .l1 = variable->l1, .l2 = variable->l2};
    out->undecayed = is_undecayed(l, v);
    MST_TRY(mst_lowering_find_constraint(l, v, &out->constraint));
    if (l->parts) out->own_count = mst_apply_own(o, l->parts, out->number, &out->own_first);
    out->weight = (int32_t)x->num_src;
    MST_TRY(push_weights(l, x, v));
    out->slot = (int32_t)x->num_src;
    /* after the weight come the slots, then the average, then the master, where there are any */
    for (int i = 1; i < mst_apply_num_written(o); i++) {
        if (i == o->num_slots + 1 && o->averages)
            out->average = (int32_t)x->num_src;
        else if (i > o->num_slots)
            out->master = (int32_t)x->num_src;
        MST_TRY(push_slot(l, x, l->src[v->source + i]));
    }
    x->units += mst_num_units(*mst_lowering_shape(l, v));
    return push_gradient(l, x, v, out);
}

static mst_status collect_local(mst_lowering *l, mst_update_local *x) {
    x->variable = mst_lowering_alloc(l, (size_t)l->options->num_variables, sizeof *x->variable);
    if (!x->variable) return MST_NO_MEMORY("for an update");
    x->options = (mst_update_options){.optimizer = &l->options->optimizer,
                                      .factors = -1,
                                      .num_copies = x->set->mirrored ? x->num_devices : 1,
                                      .num_slots = l->options->num_slots,
                                      .num_shards = l->options->num_shards,
                                      .sharded = l->parts != NULL,
                                      .variable = x->variable};
    MST_TRY(mst_lowering_push(x, l->scalars));
    for (int32_t v = 0; v < l->options->num_variables; v++)
        if (l->variables[v].set == x->index) MST_TRY(push_variable(l, x, &l->variables[v]));
    return MST_OK;
}

mst_status mst_lowering_update(mst_lowering *l, const mst_update_local *x, mst_update_purpose purpose, const char *name,
                               int32_t *out) {
    mst_update_options options = x->options;
    options.purpose = purpose;
    mst_spec *spec = mst_lowering_alloc(l, (size_t)x->num_src + 1, sizeof *spec);
    if (!spec) return MST_NO_MEMORY("for an update");
    spec[0] = (mst_spec){
        .dtype = purpose == MST_UPDATE_NORMS ? MST_F64 : l->plan->value[l->plan->node[l->node].dst].spec.dtype,
        .shape = mst_shape_make(1, &x->units)};
    int num_dst = 1;
    if (l->plan->host->devices->device[x->device[0]].type->compiles)
        for (int i = 0; i < x->num_src; i++)
            if (mst_op_update.writes(&options, (int)x->num_src, i)) spec[num_dst++] = l->plan->value[x->src[i]].spec;
    const mst_lowered update = {.op = &mst_op_update,
                                .name = name,
                                .options = &options,
                                .num_src = (int)x->num_src,
                                .src = x->src,
                                .num_dst = num_dst,
                                .dst = spec,
                                .device = x->device[0]};
    MST_TRY(mst_lowering_node(l, &update, out));
    l->plan->node[mst_lowering_maker(l, *out)].group = x->group;
    return MST_OK;
}

mst_status mst_lowering_alone(mst_lowering *l, const mst_update_local *x, mst_update_purpose purpose, const char *name,
                              int32_t *out) {
    MST_TRY(mst_lowering_update(l, x, purpose, name, out));
    mst_plan *plan = l->plan;
    const int32_t n = mst_lowering_maker(l, *out), part = MST_PART_ALONE - 1 - n;
    if (!mst_plan_compiles(plan, &plan->node[n])) return MST_OK;
    plan->node[n].part = part;
    for (int i = 0; i < plan->node[n].num_src; i++) { /* copies the pieces: the program then reads the whole sums */
        const mst_plan_node *maker = &plan->node[mst_lowering_maker(l, plan->node[n].src[i])];
        if (maker->op != &mst_op_piece) continue;
        mst_plan_node piece = *maker;
        const mst_spec spec = plan->value[maker->dst].spec;
        int32_t added;
        piece.part = part;
        MST_TRY(mst_plan_add(plan, &piece, piece.src, &spec, &added));
        plan->node[n].src[i] = plan->node[added].dst;
    }
    return MST_OK;
}

/* Adds UNITS, a value with the penalties of all units, to the sum of penalties so far. */
static mst_status add_penalty(mst_lowering *l, int32_t units) {
    const mst_spec spec = l->plan->value[l->plan->node[l->node].dst].spec;
    const mst_reduce_options options = {0};
    int32_t pair[2] = {l->penalty, -1};
    const int32_t device = mst_plan_number_device(l->plan, mst_lowering_device(l, units));
    const mst_lowered sum = {&mst_op_reduce_sum, "penalty", &options, 1, &units, 1, &spec, device},
                      add = {&mst_op_add, "penalty", NULL, 2, pair, 1, &spec, device};
    MST_TRY(mst_lowering_node(l, &sum, &pair[1]));
    if (l->penalty >= 0) return mst_lowering_node(l, &add, &l->penalty);
    l->penalty = pair[1];
    return MST_OK;
}

static mst_status add_step(mst_lowering *l, const mst_update_local *x) {
    int32_t step, penalties;
    bool wants_penalty = false, sole_writer = true;
    for (int32_t k = 0; k < x->options.num_variables && x->first_of_set; k++) {
        const mst_variable_update *v = &l->variables[x->variable[k].number];
        wants_penalty |= has_penalty(l, v);
        sole_writer &= l->d->num_writers[l->src[v->source]] == 1;
    }
    MST_TRY(mst_lowering_update(l, x, MST_UPDATE_STEP, "step", &step));
    MST_TRY(mst_lowering_part(l, mst_lowering_maker(l, step)));
    MST_TRY(mst_lowering_constrain(l, x, mst_lowering_maker(l, step)));
    if (!wants_penalty) return MST_OK;
    /* The update itself computes the penalties if three conditions hold: it is in the domain of the whole sum, makes
     * all units, and reads the weights as they were before all writes. Else a separate node before the update computes
     * the penalties. So nothing crosses between domains while variables are written. On devices that compile this node
     * is a program of its own, so that all devices have the same program for the update. */
    const bool here = !mst_plan_compiles(l->plan, &l->plan->node[mst_lowering_maker(l, step)]) &&
                      mst_plan_domain(l->plan, x->device[0]) ==
                          mst_plan_domain(l->plan, l->penalty >= 0 ? mst_lowering_device(l, l->penalty) : x->device[0]);
    penalties = step;
    if (!here || !sole_writer || l->parts)
        MST_TRY(mst_lowering_alone(l, x, MST_UPDATE_PENALTIES, "penalties", &penalties));
    return add_penalty(l, penalties);
}

/* Sets OUT to the devices of domain number DOMAIN of a set, with the sources of their update. */
static mst_status add_local(mst_lowering *l, int32_t set, int32_t domain, mst_update_local *out) {
    const mst_update_set *s = &l->sets[set];
    *out = (mst_update_local){.set = s,
                              .index = set,
                              .first_of_set = domain == 0,
                              .num_devices = s->domain_start[domain + 1] - s->domain_start[domain],
                              .device = s->ordered + s->domain_start[domain]};
    MST_TRY(mst_plan_add_group(l->plan, out->device, out->num_devices, &out->group));
    return collect_local(l, out);
}

static mst_status lower_sets(mst_lowering *l) {
    int32_t num_locals = 0, count = 0;
    for (int32_t i = 0; i < l->num_sets; i++) num_locals += l->sets[i].num_domains;
    mst_update_local *locals = calloc((size_t)num_locals + 1, sizeof *locals);
    if (!locals) return MST_NO_MEMORY("for an update");
    mst_status status = MST_OK;
    for (int32_t i = 0; i < l->num_sets && !status; i++) {
        status = mst_lowering_exchange(l, i);
        for (int32_t d = 0; d < l->sets[i].num_domains && !status; d++) status = add_local(l, i, d, &locals[count++]);
    }
    if (!status && count && mst_clips_by_norm(&l->options->optimizer)) status = mst_lowering_clipping(l, locals, count);
    if (!status && l->parts) status = mst_lowering_stage(l, &locals[0]);
    for (int32_t i = 0; i < count && !status; i++) status = add_step(l, &locals[i]);
    for (int32_t i = 0; i < count; i++) free(locals[i].src);
    free(locals);
    return status;
}

/* ---- the whole ---- */

/* Turns apply_gradients itself into a node that gives the penalty and comes after the whole update. */
static mst_status replace(mst_lowering *l) {
    mst_plan_node *node = &l->plan->node[l->node];
    node->control = mst_arena_copy(&l->plan->memory, l->control, (size_t)l->num_control * sizeof *l->control);
    if (!node->control) return MST_NO_MEMORY("for an update");
    node->num_control = (int32_t)l->num_control;
    node->op = &mst_op_identity;
    node->options = NULL;
    node->writer = false;
    node->num_src = l->penalty >= 0 ? 1 : 0;
    if (l->penalty >= 0) {
        node->src[0] = l->penalty;
        node->device = mst_lowering_device(l, l->penalty);
        return MST_OK;
    }
    mst_plan_value *zero = &l->plan->value[node->dst];
    zero->space = MST_IN_CONSTANT;
    return mst_tensor_create(zero->spec.dtype, zero->spec.shape, &zero->constant);
}

/* Finds the gradients of a variable. If the variable has a master, they are cast to the master's dtype. */
static mst_status find_gradients(mst_lowering *l, mst_variable_update *v) {
    const mst_cast_options to = {.dtype = MST_F32};
    v->gradient = mst_lowering_alloc(l, (size_t)l->window.count, sizeof *v->gradient);
    if (!v->gradient) return MST_NO_MEMORY("for an update");
    for (int32_t s = 0; s < l->window.count; s++) {
        const int32_t value = l->src[v->source + mst_apply_num_written(l->options) + s];
        mst_spec spec = l->plan->value[value].spec;
        const mst_lowered cast = {&mst_op_cast, "gradient", &to, 1, &value, 1, &spec, mst_lowering_device(l, value)};
        v->gradient[s] = value;
        if (!l->options->masters || spec.dtype == to.dtype) continue;
        spec.dtype = to.dtype;
        MST_TRY(mst_lowering_node(l, &cast, &v->gradient[s]));
        l->plan->node[mst_lowering_maker(l, v->gradient[s])].part = l->plan->node[mst_lowering_maker(l, value)].part;
    }
    return MST_OK;
}

static mst_status lower(mst_lowering *l) {
    const int32_t num = l->options->num_variables;
    l->variables = calloc((size_t)num, sizeof *l->variables);
    if (!l->variables) return MST_NO_MEMORY("for an update");
    if (mst_lowering_is_part(l)) MST_TRY(mst_plan_check_window(l->plan, l->node, l->window, l->options->num_shards));
    MST_TRY(mst_lowering_scalars(l));
    for (int32_t v = 0; v < num; v++) {
        mst_variable_update *variable = &l->variables[v];
        variable->source = mst_apply_source(l->options, v);
        MST_TRY(find_set(l, l->src[variable->source], &variable->set));
        MST_TRY(find_gradients(l, variable));
    }
    for (int32_t v = 0; v < num; v++) MST_TRY(mst_lowering_gradient(l, &l->variables[v]));
    if (l->options->num_parts) MST_TRY(mst_lowering_find_parts(l));
    MST_TRY(lower_sets(l));
    return replace(l);
}

mst_status mst_distribute_update(mst_distribute_pass *d, int32_t n) {
    const mst_plan_node *node = &d->plan->node[n];
    mst_lowering l = {.d = d,
                      .plan = d->plan,
                      .node = n,
                      .options = node->options,
                      .window = mst_apply_window(node->options),
                      .src = node->src,
                      .penalty = -1};
    mst_status status = lower(&l);
    free(l.variables);
    free(l.sets);
    free(l.control);
    return status ? mst_error_prefix("%s", d->plan->node[n].name) : MST_OK;
}
