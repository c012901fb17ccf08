#include "support/plan_op.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "support/test.h"

int32_t plan_op_source(plan_op *p, mst_tensor *tensor) {
    assert_in_range(p->num_src, 0, PLAN_OP_MOST_SRC - 1);
    p->src[p->num_src] = tensor;
    return p->num_src++;
}

void plan_op_end(plan_op *p) {
    op_case_release(p->src, p->num_src);
}

/* The kernel of the engine that has the op; NULL: it has only its reference. */
static const mst_kernel *find_kernel(const mst_op *op) {
    for (int i = 0; mst_kernel_table[i]; i++)
        for (int k = 0; mst_kernel_table[i]->ops && mst_kernel_table[i]->ops[k]; k++)
            if (strcmp(mst_kernel_table[i]->ops[k], op->name) == 0) return mst_kernel_table[i];
    return NULL;
}

static mst_array array_of(mst_tensor *tensor) {
    return (mst_array){.data = mst_tensor_data(tensor),
                       .count = mst_tensor_count(tensor),
                       .dtype = mst_tensor_dtype(tensor),
                       .shape = mst_tensor_shape(tensor)};
}

static mst_status run_kernel(const mst_kernel *kernel, mst_kernel_args *args) {
    mst_spec src[PLAN_OP_MOST_SRC], dst[PLAN_OP_MOST_DST];
    for (int i = 0; i < args->num_src; i++)
        src[i] = (mst_spec){.dtype = args->src[i].dtype, .shape = args->src[i].shape};
    for (int i = 0; i < args->num_dst; i++)
        dst[i] = (mst_spec){.dtype = args->dst[i].dtype, .shape = args->dst[i].shape};
    const mst_infer infer = {.op = args->op,
                             .options = args->options,
                             .name = args->name,
                             .num_src = args->num_src,
                             .src = src,
                             .num_dst = args->num_dst,
                             .dst = dst};
    const mst_kernel_function function = kernel ? kernel->select(&infer, 1) : args->op->reference;
    size_t bytes = 0;
    assert_non_null(function);
    if (kernel && kernel->prepare) EXPECT_OK(kernel->prepare(&infer, 1, &args->state, &bytes));
    args->workspace = aligned_alloc(64, (bytes + 64) / 64 * 64);
    assert_non_null(args->workspace);
    const mst_status status = function(args);
    free(args->workspace);
    if (kernel && kernel->release) kernel->release(args->state);
    return status;
}

mst_status plan_op_run(const plan_op *p, mst_tensor **dst) {
    mst_array src_array[PLAN_OP_MOST_SRC], dst_array[PLAN_OP_MOST_DST];
    const mst_step step = {0};
    for (int i = 0; i < p->num_src; i++) src_array[i] = array_of(p->src[i]);
    for (int i = 0; i < p->num_dst; i++) {
        EXPECT_OK(mst_tensor_create(p->dst[i].dtype, p->dst[i].shape, &dst[i]));
        if (mst_tensor_bytes(dst[i])) memset(mst_tensor_data(dst[i]), 0xa5, mst_tensor_bytes(dst[i]));
        dst_array[i] = array_of(dst[i]);
    }
    mst_kernel_args args = {.op = p->op,
                            .options = p->options,
                            .name = "node",
                            .num_src = p->num_src,
                            .src = src_array,
                            .num_dst = p->num_dst,
                            .dst = dst_array,
                            .step = &step,
                            .num_threads = 1,
                            .num_parts = 1};
    const mst_status status = run_kernel(find_kernel(p->op), &args);
    if (status) op_case_release(dst, p->num_dst);
    return status;
}

void plan_op_begin(const plan_op *p, hlo_case *h, plan_op_lower *l) {
    EXPECT_OK(mst_hlo_program_create(&h->program));
    for (int i = 0; i < p->num_src; i++) {
        l->src_spec[i] = hlo_value_of(p->src[i]).spec;
        l->src[i] = hlo_case_argument(h, p->src[i]);
    }
    for (int i = 0; i < p->num_dst; i++) l->dst[i] = MST_NO_HLO;
    l->lower = (mst_lower){.program = h->program,
                           .op = p->op,
                           .options = p->options,
                           .name = "node",
                           .num_src = p->num_src,
                           .src = l->src,
                           .src_spec = l->src_spec,
                           .num_dst = p->num_dst,
                           .dst = l->dst,
                           .dst_spec = p->dst};
}
