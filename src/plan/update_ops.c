/* Ops that only the lowering of an update makes nodes of. Two others stand beside the only function that adds them:
 * update_scalars in update_scalars.c, clip_factors in update_clip.c. */
#include "plan/update_ops.h"

#include <string.h>

#include "op/op.h"

/* ---- sum_rows, merge_rows (op/state/update.h): kernel/cpu/update_sum_rows.c, kernel/cpu/update_merge_rows.c ---- */

const mst_op mst_op_sum_rows = {.name = "sum_rows",
                                .num_src = MST_VARIADIC,
                                .num_dst = 2,
                                .flags = MST_OP_STATEFUL,
                                .options_size = sizeof(mst_sum_rows_options)};

const mst_op mst_op_merge_rows = {.name = "merge_rows",
                                  .num_src = MST_VARIADIC,
                                  .num_dst = 2,
                                  .flags = MST_OP_STATEFUL,
                                  .options_size = sizeof(mst_merge_rows_options)};

/* ---- sum_leaves: vectors of one length, f32 or f64 -> their sum ---- */

enum { BLOCK = 512 };

#define MST_TEMPLATE "plan/update_sum_leaves.inc"
#include "base/floats.inc"

static mst_status sum_leaves(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    (void)thread;
    if (a->dst[0].dtype == MST_F32)
        sum_all_f32(a, begin, end);
    else
        sum_all_f64(a, begin, end);
    return MST_OK;
}

static mst_status share_leaves(const mst_kernel_args *a) {
    enum { GRAIN = 32 * BLOCK };
    return mst_parallel(a, a->dst[0].count, GRAIN, sum_leaves, (void *)(uintptr_t)a);
}

const mst_op mst_op_sum_leaves = {.name = "sum_leaves",
                                  .num_src = MST_VARIADIC,
                                  .num_dst = 1,
                                  .flags = MST_OP_STATEFUL,
                                  .options_size = sizeof(mst_sum_leaves_options),
                                  .reference = share_leaves};

/* ---- update: op/state/update.h; its kernel is kernel/cpu/update.c ---- */

static bool update_writes(const void *options, int num_src, int i) {
    const mst_update_options *o = options;
    (void)num_src;
    if (o->purpose != MST_UPDATE_STEP || i < MST_UPDATE_FIRST) return false;
    /* the sources of a variable that are written lie before its gradients, in the order of the variables */
    int32_t low = 0, high = o->num_variables;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        *(o->variable[middle].weight <= i ? &low : &high) = middle;
    }
    const mst_update_variable *v = &o->variable[low];
    if (i < v->weight) return false;
    return i < v->weight + o->num_copies + o->num_slots + (v->average >= 0) + (v->master >= 0);
}

const mst_op mst_op_update = {.name = "update",
                              .num_src = MST_VARIADIC,
                              .num_dst = 1,
                              .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                              .options_size = sizeof(mst_update_options),
                              .writes = update_writes};
