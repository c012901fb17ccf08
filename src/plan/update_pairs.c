/* Sums of gradients on devices that compile, a part of the lowering of apply_gradients.
 *
 * The gradients of a shard leave its program in a few vectors, buckets of about MST_BUCKET_BYTES, because a copy of a
 * small array takes as long as a copy of a larger one. Variables are put into buckets from the last to the first, until
 * a bucket has enough bytes.
 *
 * The buckets of the shards are added up in pairs, in the order of the fixed tree (base/shard_tree.h). Each sum of
 * two is a program of its own, so all steps with this number of shards run the same programs, on any number of devices:
 *
 *    device 0   shard 0 --+--> sum --+
 *               shard 1 --+          +--> sum of all, which goes to all devices
 *    device 1   shard 2 --+--> sum --+
 *               shard 3 --+
 *
 * Two vectors of one device are added there. Those of two devices are added by the owner of the bucket; the devices
 * take turns as owners. Rows of sparse gradients, which are in no bucket, are merged in the same pairs. Sums over tasks
 * go through the host's memory (collective/exchange.c). Each device cuts the sums into gradients of variables. */
#include "base/no_memory.h"
#include "op/list.h"
#include "op/state/state_parts.h"
#include "plan/ops.h"
#include "plan/task_sums.h"
#include "plan/update_lowering.h"
#include "plan/update_ops.h"

bool mst_lowering_compiles(const mst_lowering *l, int32_t set) {
    const mst_update_set *s = &l->sets[set];
    bool any = false;
    for (int32_t d = 0; d < s->num_devices; d++) any |= l->plan->host->devices->device[s->device[d]].type->compiles;
    return any;
}

static int32_t device_of_pair(const mst_lowering *l, const mst_variable_update *v, const mst_gradient_part *pair,
                              int32_t turn) {
    const int32_t first = mst_lowering_device(l, pair[0].value);
    const mst_update_set *s = &l->sets[v->set];
    return first == mst_lowering_device(l, pair[1].value) ? first : s->device[turn % s->num_devices];
}

static mst_status merge_pair(mst_lowering *l, const mst_variable_update *v, const mst_gradient_part *pair,
                             int32_t device, mst_gradient_part *out) {
    static const mst_shards leaf[2] = {{0, 1}, {1, 1}};
    const mst_merge_rows_options options = {.num_shards = 2, .leaf = leaf, .end_row = mst_lowering_shape(l, v)->dim[0]};
    const int32_t src[4] = {pair[0].value, pair[0].second, pair[1].value, pair[1].second};
    const int64_t rows = l->plan->value[src[0]].spec.shape.dim[0] + l->plan->value[src[2]].spec.shape.dim[0];
    const mst_lowered merge = {
        .op = &mst_op_merge_rows, .options = &options, .num_src = 4, .src = src, .device = device};
    return mst_lowering_rows(l, v, merge, rows < options.end_row ? rows : options.end_row, out);
}

/* Replaces PAIR[0] by the sum of PAIR[0] and PAIR[1]. */
static mst_status sum_pair(mst_lowering *l, const mst_variable_update *v, mst_gradient_part *pair, int32_t turn) {
    const int32_t device = device_of_pair(l, v, pair, turn), src[2] = {pair[0].value, pair[1].value};
    const mst_spec spec = l->plan->value[src[0]].spec;
    const mst_lowered add = {&mst_op_add, "sum", NULL, 2, src, 1, &spec, device};
    mst_gradient_part sum = {.leaf = {pair[0].leaf.first, pair[0].leaf.count + pair[1].leaf.count}};
    if (v->kind == MST_GRADIENT_SPARSE)
        MST_TRY(merge_pair(l, v, pair, device, &sum));
    else
        MST_TRY(mst_lowering_node(l, &add, &sum.value));
    l->plan->node[mst_lowering_maker(l, sum.value)].part = MST_PART_ALONE;
    pair[0] = sum;
    return MST_OK;
}

mst_status mst_lowering_pairs(mst_lowering *l, mst_variable_update *v, int32_t turn) {
    const int32_t end = l->window.first + l->window.count, num_shards = l->options->num_shards;
    mst_gradient_part *sums = mst_lowering_alloc(l, (size_t)v->num_parts, sizeof *sums);
    int32_t height = 0;
    if (!sums) return MST_NO_MEMORY("for an update");
    for (int32_t i = 0; i < v->num_parts; i++) {
        sums[height++] = v->parts[i];
        /* two sums are added if together they are a node of the tree, and this task has all shards of this node */
        while (height > 1 && mst_shards_is_right(sums[height - 1].leaf, num_shards)) {
            const mst_shards parent = mst_shards_parent(sums[height - 1].leaf, num_shards);
            if (parent.first < l->window.first || parent.first + parent.count > end) break;
            MST_TRY(sum_pair(l, v, &sums[--height - 1], turn));
        }
    }
    v->parts = sums;
    v->num_parts = height;
    return MST_OK;
}

/* ---- buckets ---- */

static const mst_spec *gradient_spec(const mst_lowering *l, const mst_variable_update *v) {
    return &l->plan->value[v->gradient[0]].spec;
}

/* Whether V goes in buckets of SET. A gradient without elements does not. */
static bool is_in_buckets(const mst_lowering *l, const mst_variable_update *v, int32_t set) {
    return v->set == set && v->kind == MST_GRADIENT_DENSE && mst_shape_count(gradient_spec(l, v)->shape) > 0;
}

/* Fills BUCKET with the numbers of variables of one dtype, from LAST on downwards, and returns how many it has. *NEXT
 * is the last variable of the next bucket. */
static int32_t fill_bucket(const mst_lowering *l, int32_t set, int32_t last, int32_t *bucket, int32_t *next) {
    int64_t bytes = 0;
    int32_t count = 0;
    for (*next = last; *next >= 0 && bytes < MST_BUCKET_BYTES; --*next) {
        const mst_variable_update *v = &l->variables[*next];
        if (!is_in_buckets(l, v, set)) continue;
        const mst_spec *spec = gradient_spec(l, v);
        if (count && spec->dtype != gradient_spec(l, &l->variables[bucket[0]])->dtype) break;
        bucket[count++] = *next;
        bytes += mst_shape_count(spec->shape) * (int64_t)mst_dtype_size(spec->dtype);
    }
    return count;
}

/* Adds the nodes that put the gradients of each shard into one vector. These vectors are the parts of OUT. */
static mst_status flatten(mst_lowering *l, const int32_t *bucket, int32_t count, mst_variable_update *out) {
    int64_t elements = 0;
    int32_t *src = mst_lowering_alloc(l, (size_t)count, sizeof *src);
    *out = (mst_variable_update){.set = l->variables[bucket[0]].set, .kind = MST_GRADIENT_DENSE};
    out->parts = mst_lowering_alloc(l, (size_t)l->window.count, sizeof *out->parts);
    if (!src || !out->parts) return MST_NO_MEMORY("for an update");
    for (int32_t k = 0; k < count; k++) elements += mst_shape_count(gradient_spec(l, &l->variables[bucket[k]])->shape);
    const mst_spec spec = {.dtype = gradient_spec(l, &l->variables[bucket[0]])->dtype, .shape = MST_SHAPE(elements)};
    l->plan->num_buckets++;
    l->plan->bucket_bytes += elements * (int64_t)mst_dtype_size(spec.dtype);
    for (int32_t s = 0; s < l->window.count; s++) {
        mst_gradient_part *part = &out->parts[out->num_parts++];
        for (int32_t k = 0; k < count; k++) src[k] = l->variables[bucket[k]].gradient[s];
        const mst_lowered flat = {&mst_op_flat, "flat", NULL, count, src, 1, &spec, mst_lowering_device(l, src[0])};
        part->leaf = (mst_shards){l->window.first + s, 1};
        MST_TRY(mst_lowering_node(l, &flat, &part->value));
        l->plan->node[mst_lowering_maker(l, part->value)].part = l->plan->node[mst_lowering_maker(l, src[0])].part;
    }
    return MST_OK;
}

/* Adds the exchange of the parts of BUCKET, which are the sums over this task's leaves. *OUT is the sum over all
 * tasks. */
static mst_status exchange(mst_lowering *l, const mst_variable_update *bucket, int32_t *out) {
    int32_t *leaf = mst_lowering_alloc(l, (size_t)bucket->num_parts, sizeof *leaf);
    const mst_plan_sums sums = {.name = mst_arena_print(&l->plan->memory, "%s/gradients", l->plan->node[l->node].name),
                                .device = l->sets[bucket->set].device[0],
                                .num_values = 1,
                                .num_leaves = bucket->num_parts,
                                .leaf = leaf};
    if (!leaf || !sums.name) return MST_NO_MEMORY("for an update");
    for (int32_t i = 0; i < bucket->num_parts; i++) leaf[i] = bucket->parts[i].value;
    return mst_plan_add_exchange(l->plan, &sums, out);
}

/* Cuts SUM, the sum of a bucket, into the gradients of its variables. */
static mst_status cut_bucket(mst_lowering *l, const int32_t *bucket, int32_t count, int32_t sum) {
    const mst_shards all = {0, l->options->num_shards};
    mst_piece_options piece = {.offset = 0};
    for (int32_t k = 0; k < count; k++) {
        mst_variable_update *v = &l->variables[bucket[k]];
        const mst_spec spec = *gradient_spec(l, v);
        const mst_lowered cut = {&mst_op_piece, "piece", &piece, 1, &sum, 1, &spec, l->sets[v->set].device[0]};
        v->parts = mst_lowering_alloc(l, 1, sizeof *v->parts);
        if (!v->parts) return MST_NO_MEMORY("for an update");
        v->num_parts = 1;
        v->parts[0].leaf = all;
        MST_TRY(mst_lowering_node(l, &cut, &v->parts[0].value));
        l->plan->node[mst_lowering_maker(l, v->parts[0].value)].num_control = 0; /* it is a view of no variable */
        piece.offset += mst_shape_count(spec.shape);
    }
    return MST_OK;
}

mst_status mst_lowering_buckets(mst_lowering *l, int32_t set) {
    int32_t *bucket = mst_lowering_alloc(l, (size_t)l->options->num_variables, sizeof *bucket), turn = 0;
    if (!bucket) return MST_NO_MEMORY("for an update");
    if (l->options->num_shards == 1) return MST_OK;
    for (int32_t v = 0; v < l->options->num_variables; v++)
        l->plan->row_gradients += l->variables[v].set == set && l->variables[v].kind == MST_GRADIENT_SPARSE;
    for (int32_t last = l->options->num_variables - 1, next; last >= 0; last = next) {
        const int32_t count = fill_bucket(l, set, last, bucket, &next);
        mst_variable_update whole;
        if (count == 0) continue;
        MST_TRY(flatten(l, bucket, count, &whole));
        MST_TRY(mst_lowering_pairs(l, &whole, turn++));
        int32_t sum = whole.parts[0].value;
        if (mst_lowering_is_part(l)) MST_TRY(exchange(l, &whole, &sum));
        MST_TRY(cut_bucket(l, bucket, count, sum));
    }
    return MST_OK;
}
