/* toy: dst = 3 * src. The wrong factor shows that this kernel ran, and not the op's reference. */
#include "kernel/kernel.h"

static mst_status toy_run(const mst_kernel_args *a) {
    const float *src = a->src[0].data;
    float *dst = a->dst[0].data;
    for (int64_t i = 0; i < a->dst[0].count; i++) dst[i] = 3 * src[i];
    return MST_OK;
}

static mst_kernel_function toy_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return c->src[0].dtype == MST_F32 ? toy_run : NULL;
}

const mst_kernel mst_kernel_cpu_toy = {
    .engine = "cpu",
    .ops = (const char *const[]){"toy", NULL},
    .select = toy_choose,
};
