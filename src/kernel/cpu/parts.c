/* Elementwise ops with many elements: the threads of a device share the work of the reference kernel. */
#include "kernel/kernel.h"
#include "op/elements.h"
#include "op/share.h"

static mst_status parts_run(const mst_kernel_args *a) {
    return mst_share_elements(a, a->op->reference);
}

static mst_kernel_function parts_choose(const mst_infer *c, int num_threads) {
    enum { MOST_BYTES = 8 /* bytes of the largest element */ };
    if (num_threads == 1 || !(c->op->flags & MST_OP_ELEMENTWISE) || c->op->workspace) return NULL;
    const int64_t most = mst_shape_count(c->dst[0].shape) * MOST_BYTES;
    return most > MST_SHARED_ELEMENTS * MST_ELEMENT_BYTES ? parts_run : NULL;
}

const mst_kernel mst_kernel_cpu_parts = {
    .engine = "cpu",
    .select = parts_choose,
};
