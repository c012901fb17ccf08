/* Sums of gradients on devices that compile, a part of the lowering of apply_gradients.
 *
 * The gradients of the shards are added up in pairs, in the order of the fixed tree (base/shard_tree.h). Each sum of
 * two is a program of its own, so all steps with this number of shards run the same programs, on any number of devices:
 *
 *    device 0   shard 0 --+--> sum --+
 *               shard 1 --+          +--> sum of all, which goes to all devices
 *    device 1   shard 2 --+--> sum --+
 *               shard 3 --+
 *
 * Two gradients of one device are added there. Those of two devices are added by the owner of the variable; the devices
 * take turns as owners. Rows of sparse gradients are merged in the same pairs. */
#include "base/no_memory.h"
#include "op/list.h"
#include "plan/update_lowering.h"
#include "plan/update_ops.h"

bool mst_lowering_compiles(const mst_lowering *l, const mst_variable_update *v) {
    return l->plan->host->devices->device[l->sets[v->set].device[0]].type->compiles;
}

static int32_t device_of_pair(const mst_lowering *l, const mst_variable_update *v, const mst_gradient_part *pair) {
    const int32_t first = mst_lowering_device(l, pair[0].value);
    const mst_update_set *s = &l->sets[v->set];
    return first == mst_lowering_device(l, pair[1].value) ? first : s->device[(v - l->variables) % s->num_devices];
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
static mst_status sum_pair(mst_lowering *l, const mst_variable_update *v, mst_gradient_part *pair) {
    const int32_t device = device_of_pair(l, v, pair), src[2] = {pair[0].value, pair[1].value};
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

mst_status mst_lowering_pairs(mst_lowering *l, mst_variable_update *v) {
    const int32_t end = l->window.first + l->window.count, num_shards = l->options->num_shards;
    mst_gradient_part *sums = mst_lowering_alloc(l, (size_t)v->num_parts, sizeof *sums);
    int32_t height = 0;
    if (!sums) return MST_NO_MEMORY("for an update");
    for (int32_t i = 0; i < v->num_parts; i++) {
        sums[height++] = v->parts[i];
        /* two sums are joined if they are both parts of a node of the tree that this task has as a whole */
        while (height > 1 && mst_shards_is_right(sums[height - 1].leaf, num_shards)) {
            const mst_shards parent = mst_shards_parent(sums[height - 1].leaf, num_shards);
            if (parent.first < l->window.first || parent.first + parent.count > end) break;
            MST_TRY(sum_pair(l, v, &sums[--height - 1]));
        }
    }
    v->parts = sums;
    v->num_parts = height;
    return MST_OK;
}
