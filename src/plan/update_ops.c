/* Ops that only the lowering of an update uses. Two others are next to the only function that adds them: update_scalars
 * in update_scalars.c, clip_factors in update_clip.c. */
#include "plan/update_ops.h"

#include <stdlib.h>
#include <string.h>

#include "collective/tree_sum.h"
#include "op/op.h"
#include "op/state/sparse_gradient.h"
#include "op/state/update_hlo.h"

/* ---- sum_rows, merge_rows (op/state/update.h): kernel/cpu/update_sum_rows.c, kernel/cpu/update_merge_rows.c ---- */

const mst_op mst_op_sum_rows = {.name = "sum_rows",
                                .num_src = MST_VARIADIC,
                                .num_dst = 2,
                                .flags = MST_OP_STATEFUL,
                                .options_size = sizeof(mst_sum_rows_options),
                                .lower = mst_sum_rows_lower};

const mst_op mst_op_merge_rows = {.name = "merge_rows",
                                  .num_src = MST_VARIADIC,
                                  .num_dst = 2,
                                  .flags = MST_OP_STATEFUL,
                                  .options_size = sizeof(mst_merge_rows_options),
                                  .lower = mst_merge_rows_lower};

/* ---- check_rows: rows and their indices (op/state/sparse_gradient.h) -> the same; fails if they are not valid ---- */

static mst_status check_rows(const mst_kernel_args *a) {
    const mst_check_rows_options *o = a->options;
    const mst_array *rows = &a->src[0];
    const int64_t *number = a->src[1].data, bound = a->dst[0].shape.dim[0];
    MST_TRY(mst_row_numbers_check(a, &a->src[1], bound, o->num_rows));
    const size_t row = bound ? (size_t)(a->dst[0].count / bound) * mst_dtype_size(rows->dtype) : 0;
    if (row) memcpy(a->dst[0].data, rows->data, (size_t)number[0] * row);
    memcpy(a->dst[1].data, number, (size_t)(1 + number[0]) * sizeof *number);
    return MST_OK;
}

const mst_op mst_op_check_rows = {.name = "check_rows",
                                  .num_src = 2,
                                  .num_dst = 2,
                                  .flags = MST_OP_STATEFUL,
                                  .options_size = sizeof(mst_check_rows_options),
                                  .reference = check_rows,
                                  .lower = mst_check_rows_lower};

/* ---- sum_leaves: vectors of one length, f32 or f64 -> their sum ---- */

static mst_status sum_leaves(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_sum_leaves_options *o = a->options;
    (void)thread;
    mst_tree_sum(a->dst[0].dtype, a->src, o->leaf, a->num_src, o->num_shards, begin, end - begin, a->dst[0].data);
    return MST_OK;
}

static mst_status share_leaves(const mst_kernel_args *a) {
    enum { GRAIN = 16384 };
    return mst_parallel(a, a->dst[0].count, GRAIN, sum_leaves, (void *)(uintptr_t)a);
}

const mst_op mst_op_sum_leaves = {.name = "sum_leaves",
                                  .num_src = MST_VARIADIC,
                                  .num_dst = 1,
                                  .flags = MST_OP_STATEFUL,
                                  .options_size = sizeof(mst_sum_leaves_options),
                                  .reference = share_leaves,
                                  .lower = mst_sum_leaves_lower};

/* ---- flat ---- */

static void flat_lower(mst_lower *l) {
    mst_hlo *vector = calloc((size_t)l->num_src, sizeof *vector);
    if (!vector) {
        mst_hlo_fail(l, "cannot get memory");
        return;
    }
    for (int i = 0; i < l->num_src; i++)
        vector[i] = mst_hlo_reshape(l, l->src[i], MST_SHAPE(mst_shape_count(l->src_spec[i].shape)));
    l->dst[0] = mst_hlo_concat(l, l->num_src, vector, 0);
    free(vector);
}

/* For CPUs that keep variables together with devices that compile. */
static mst_status flat_reference(const mst_kernel_args *a) {
    char *to = a->dst[0].data;
    for (int i = 0; i < a->num_src; i++) {
        const size_t bytes = (size_t)a->src[i].count * mst_dtype_size(a->src[i].dtype);
        if (bytes) memcpy(to, a->src[i].data, bytes);
        to += bytes;
    }
    return MST_OK;
}

const mst_op mst_op_flat = {.name = "flat",
                            .num_src = MST_VARIADIC,
                            .num_dst = 1,
                            .flags = MST_OP_STATEFUL,
                            .reference = flat_reference,
                            .lower = flat_lower};

/* ---- update: op/state/update.h; its kernel is kernel/cpu/update.c ---- */

static bool update_writes(const void *options, int num_src, int i) {
    const mst_update_options *o = options;
    (void)num_src;
    if (o->purpose != MST_UPDATE_STEP || i < MST_UPDATE_FIRST) return false;
    /* The written sources of a variable come before its gradients. Variables are in order, so a binary search finds the
     * one of source I. */
    int32_t low = 0, high = o->num_variables;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        *(o->variable[middle].weight <= i ? &low : &high) = middle;
    }
    const mst_update_variable *v = &o->variable[low];
    if (i < v->weight) return false;
    return i < v->weight + o->num_copies + o->num_slots + (v->average >= 0) + (v->master >= 0);
}

/* For updates that write no variables. For those that do, the pass programs calls mst_update_node_lower itself, which
 * gives it the new values. */
static void update_lower(mst_lower *l) {
    mst_update_node_lower(l, NULL);
}

bool mst_update_reads(const mst_update_options *o, int i) {
    if (o->purpose != MST_UPDATE_PENALTIES) return true;
    for (int32_t v = 0; v < o->num_variables; v++)
        if (i == o->variable[v].weight || i == o->variable[v].master) return true;
    return false;
}

bool mst_is_update_step(const mst_op *op, const void *options) {
    return op == &mst_op_update && ((const mst_update_options *)options)->purpose == MST_UPDATE_STEP;
}

const mst_op mst_op_update = {.name = "update",
                              .num_src = MST_VARIADIC,
                              .num_dst = 1,
                              .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                              .options_size = sizeof(mst_update_options),
                              .writes = update_writes,
                              .lower = update_lower};

/* Takes the sources of update and writes none of them. dst: the new values of the task's part of each variable. */
const mst_op mst_op_stage_update = {.name = "stage_update",
                                    .num_src = MST_VARIADIC,
                                    .num_dst = MST_VARIADIC,
                                    .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                                    .options_size = sizeof(mst_update_options)};
