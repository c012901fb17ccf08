#include "kernel/onednn/base/product.h"

#include <stdlib.h>

#include "kernel/onednn/base/primitive.h"
#include "tensor/buffer.h"

enum { A = MST_PRODUCT_A, B = MST_PRODUCT_B, BIAS = MST_PRODUCT_BIAS, C = MST_PRODUCT_C };
enum { SCRATCHPAD = MST_PRODUCT_OPERANDS, NUM_ARGS };
enum { WHOLE, REST, NUM_SIZES }; /* parts of CHUNK indices, and the last one */

/* What one thread gives to a primitive. */
typedef struct call {
    dnnl_stream_t stream;
    dnnl_memory_t memory[NUM_ARGS];
    const void *data[NUM_ARGS]; /* address that the memory object has now */
    dnnl_exec_arg_t args[NUM_ARGS];
    int num_args;
} call;

struct mst_product {
    mst_primitive *primitive[NUM_SIZES];
    call *calls; /* [num_threads][NUM_SIZES] */
    size_t scratchpad;
    int num_threads;
    int64_t parts, chunk;
    int64_t
        step[MST_PRODUCT_OPERANDS]; /* elements from one index of the axis to the next; 0 where it has not this axis */
};

void mst_product_operand(mst_product_shape *p, int which, mst_shape shape, bool transposed) {
    int64_t *dim = p->dim[which], *stride = p->stride[which], step = 1;
    const int lead = p->ndim - shape.ndim, last = p->ndim - 1; /* dimensions of 1 in front */
    for (int i = 0; i < p->ndim; i++) dim[i] = i < lead ? 1 : shape.dim[i - lead];
    for (int i = last; i >= 0; i--) {
        stride[i] = step;
        step *= dim[i];
    }
    if (!transposed) return;
    const int64_t swapped_dim = dim[last], swapped_stride = stride[last];
    dim[last] = dim[last - 1];
    stride[last] = stride[last - 1];
    dim[last - 1] = swapped_dim;
    stride[last - 1] = swapped_stride;
}

/* The calls of all threads for the parts of one size. */
static dnnl_status_t make_calls(mst_product *p, int size, bool has_bias) {
    static const int argument[NUM_ARGS] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST,
                                           DNNL_ARG_SCRATCHPAD};
    dnnl_status_t status = dnnl_success;
    for (int t = 0; t < p->num_threads && !status; t++) {
        call *k = &p->calls[t * NUM_SIZES + size];
        status = dnnl_stream_create(&k->stream, mst_dnnl_engine(), dnnl_stream_default_flags);
        for (int i = 0; i < NUM_ARGS && !status; i++) {
            if (i == BIAS && !has_bias) continue;
            status = dnnl_memory_create(&k->memory[i], mst_primitive_description(p->primitive[size], i),
                                        mst_dnnl_engine(), DNNL_MEMORY_NONE);
            k->args[k->num_args++] = (dnnl_exec_arg_t){argument[i], k->memory[i]};
        }
    }
    return status;
}

/* Parts of COUNT indices of the axis. */
static dnnl_status_t make_size(mst_product *p, int size, const mst_product_shape *shape, int axis, int64_t count) {
    mst_product_shape part = *shape;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++)
        if (p->step[i]) part.dim[i][axis] = count;
    dnnl_status_t status = mst_primitive_get(&part, &p->primitive[size]);
    if (status) return status;
    const size_t scratchpad = mst_primitive_scratchpad(p->primitive[size]);
    if (scratchpad > p->scratchpad) p->scratchpad = scratchpad;
    return make_calls(p, size, shape->has_bias);
}

static dnnl_status_t make(mst_product *p, const mst_product_shape *shape, int axis) {
    const int64_t rest = shape->dim[C][axis] - (p->parts - 1) * p->chunk;
    dnnl_status_t status = dnnl_success;
    if (p->parts > 1) status = make_size(p, WHOLE, shape, axis, p->chunk);
    if (!status && (p->parts == 1 || rest != p->chunk)) status = make_size(p, REST, shape, axis, rest);
    return status;
}

mst_status mst_product_create(const mst_product_shape *shape, int axis, int64_t chunk, int num_threads,
                              const char *name, mst_product **out) {
    *out = NULL;
    enum { MOST_OF_A_PRIMITIVE = 16 << 20 }; /* bytes that oneDNN takes to make one, generously */
    MST_TRY(mst_memory_probe(MOST_OF_A_PRIMITIVE));
    mst_product *p = calloc(1, sizeof *p);
    if (p) p->calls = calloc((size_t)num_threads * NUM_SIZES, sizeof *p->calls);
    if (!p || !p->calls) {
        free(p);
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a kernel");
    }
    p->num_threads = num_threads;
    p->chunk = chunk;
    p->parts = (shape->dim[C][axis] + chunk - 1) / chunk;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++) {
        /* the rows of C are no axis of B, its columns none of A; the bias has columns only */
        const bool has_axis = i == C || (i == BIAS ? axis == shape->ndim - 1
                                                   : axis != shape->ndim - (i == A ? 1 : 2) && shape->dim[i][axis] > 1);
        p->step[i] = has_axis ? shape->stride[i][axis] : 0;
    }
    const dnnl_status_t status = make(p, shape, axis);
    if (status) {
        mst_product_destroy(p);
        return MST_FAIL(status == dnnl_out_of_memory ? MST_OUT_OF_MEMORY : MST_INTERNAL,
                        "%s: oneDNN made no primitive, status %d", name, (int)status);
    }
    *out = p;
    return MST_OK;
}

void mst_product_destroy(mst_product *p) {
    if (!p) return;
    for (int k = 0; k < p->num_threads * NUM_SIZES; k++) {
        for (int i = 0; i < NUM_ARGS; i++)
            if (p->calls[k].memory[i]) dnnl_memory_destroy(p->calls[k].memory[i]);
        if (p->calls[k].stream) dnnl_stream_destroy(p->calls[k].stream);
    }
    for (int i = 0; i < NUM_SIZES; i++) mst_primitive_release(p->primitive[i]);
    free(p->calls);
    free(p);
}

int64_t mst_product_parts(const mst_product *product) {
    return product->parts;
}

size_t mst_product_workspace(const mst_product *product) {
    return product->scratchpad;
}

int64_t mst_product_offset(const mst_product *product, int64_t part) {
    return part * product->chunk * product->step[C];
}

static dnnl_status_t set_data(call *k, int which, const void *data) {
    if (!k->memory[which] || k->data[which] == data) return dnnl_success;
    k->data[which] = data;
    return dnnl_memory_set_data_handle(k->memory[which], (void *)(uintptr_t)data);
}

mst_status mst_product_run(mst_product *p, int64_t part, int thread, void *workspace, const float *a, const float *b,
                           const float *bias, float *c_part) {
    const int size = p->primitive[REST] && part == p->parts - 1 ? REST : WHOLE;
    const int64_t index = part * p->chunk;
    call *k = &p->calls[thread * NUM_SIZES + size];
    dnnl_status_t status = set_data(k, A, a + index * p->step[A]);
    if (!status) status = set_data(k, B, b + index * p->step[B]);
    if (!status && bias) status = set_data(k, BIAS, bias + index * p->step[BIAS]);
    if (!status) status = set_data(k, C, c_part);
    if (!status) status = set_data(k, SCRATCHPAD, workspace);
    if (!status)
        status = dnnl_primitive_execute(mst_primitive_handle(p->primitive[size]), k->stream, k->num_args, k->args);
    return status ? MST_FAIL(MST_INTERNAL, "oneDNN failed with status %d", (int)status) : MST_OK;
}
