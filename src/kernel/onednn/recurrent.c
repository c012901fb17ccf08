/* lstm, gru, simple_rnn and their gradients. oneDNN computes the product with the recurrent kernel in each time
 * step. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "kernel/kernel.h"
#include "kernel/onednn/base/product.h"
#include "op/op.h"
#include "op/recurrent/recurrent.h"

typedef struct recurrent_state {
    mst_recurrence recurrence;
    mst_product *product;
} recurrent_state;

static mst_status step_product(const mst_recurrence *r, int64_t first, int64_t count, int thread, void *scratch,
                               const void *a, void *c) {
    const recurrent_state *s = r->args->state;
    (void)count;
    /* B, the recurrent kernel, is source 1 of the op, and source 0 of its gradient (op/recurrent/recurrent.h) */
    return mst_product_run(s->product, first / r->chunk, thread, scratch, a, r->args->src[r->backward ? 0 : 1].data,
                           NULL, c);
}

/* Describes the product. Rows of A are a whole sequence apart; each part has its own C. */
static mst_product_shape describe(const mst_recurrence *r) {
    mst_product_shape p = {.ndim = 2};
    int64_t inner, columns;
    mst_recurrence_product_shape(r, &inner, &columns);
    mst_product_operand(&p, MST_PRODUCT_A, MST_SHAPE(r->rows, inner), false);
    mst_product_operand(&p, MST_PRODUCT_B, MST_SHAPE(inner, columns), false);
    mst_product_operand(&p, MST_PRODUCT_C, MST_SHAPE(r->rows, columns), false);
    p.stride[MST_PRODUCT_A][0] = r->steps * inner;
    return p;
}

static void recurrent_release(void *context) {
    recurrent_state *s = context;
    if (s) mst_product_destroy(s->product);
    free(s);
}

static mst_recurrence recurrence_of(const mst_infer *c) {
    bool backward;
    const mst_cell *cell = mst_cell_of(c->op->name, &backward);
    const mst_shape shapes[] = {c->src[0].shape, c->src[1].shape};
    return mst_recurrence_make(cell, backward, shapes, c->src[0].dtype);
}

static mst_status recurrent_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    recurrent_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    s->recurrence = recurrence_of(c);
    const mst_product_shape shape = describe(&s->recurrence);
    if (mst_product_create(&shape, 0, s->recurrence.chunk, num_threads, c->name, &s->product)) {
        recurrent_release(s);
        return mst_error_at(c->name, NULL);
    }
    s->recurrence.product = step_product;
    s->recurrence.scratch = mst_product_workspace(s->product);
    *workspace = mst_recurrence_workspace(&s->recurrence, num_threads);
    *out = s;
    return MST_OK;
}

static mst_status recurrent_run(const mst_kernel_args *a) {
    mst_recurrence r = ((const recurrent_state *)a->state)->recurrence;
    return mst_recurrence_run(&r, a) ? mst_error_prefix("%s '%s'", a->op->name, a->name) : MST_OK;
}

static mst_kernel_function recurrent_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->src[0].dtype != MST_F32) return NULL;
    for (int i = 0; i < c->num_src; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return NULL;
    return recurrent_run;
}

const mst_kernel mst_kernel_onednn_recurrent = {
    .engine = "onednn",
    .ops = (const char *const[]){"lstm", "lstm_grad", "gru", "gru_grad", "simple_rnn", "simple_rnn_grad", NULL},
    .select = recurrent_choose,
    .prepare = recurrent_prepare,
    .release = recurrent_release,
};
