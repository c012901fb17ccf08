/* A product in parts of equal size, except that the last may be smaller. So it needs at most two primitives, one for
 * each size. For each of them every thread has a prepared call, whose addresses are set before it runs. A constant B
 * can be packed: each part's share of it is rearranged once into the layout that the primitive reads fastest. */
#include "kernel/onednn/base/product.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/reserve.h"
#include "kernel/onednn/base/primitive.h"
#include "tensor/buffer.h"

enum { A = MST_PRODUCT_A, B = MST_PRODUCT_B, BIAS = MST_PRODUCT_BIAS, C = MST_PRODUCT_C };
enum { SCRATCHPAD = MST_PRODUCT_OPERANDS, NUM_ARGS };
enum { WHOLE, REST, NUM_SIZES }; /* WHOLE: parts of CHUNK indices; REST: a smaller last part */

/* A prepared call of a primitive by one thread. */
typedef struct call {
    dnnl_stream_t stream;
    dnnl_memory_t memory[NUM_ARGS];
    const void *data[NUM_ARGS]; /* the address that each memory object has now */
    dnnl_exec_arg_t args[NUM_ARGS];
    int num_args;
} call;

struct mst_product {
    mst_primitive *primitive[NUM_SIZES];
    call *calls; /* [num_threads][NUM_SIZES] */
    size_t scratchpad;
    int num_threads;
    int64_t parts, chunk;
    /* elements from one index of the cut axis to the next; 0: the operand does not have the axis */
    int64_t step[MST_PRODUCT_OPERANDS];
    mst_product_shape shape;
    int axis;
    int64_t packed_step; /* bytes from one part of a packed B to the next */
};

void mst_product_operand(mst_product_shape *p, int which, mst_shape shape, bool transposed) {
    int64_t *dim = p->dim[which], *stride = p->stride[which], step = 1;
    const int lead = p->ndim - shape.ndim, last = p->ndim - 1; /* dimensions of 1 are added in front */
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

/* Makes the calls of all threads for the parts of one size. */
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

/* The shape of a part of COUNT indices of the axis. */
static mst_product_shape part_of(const mst_product *p, int64_t count) {
    mst_product_shape part = p->shape;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++)
        if (p->step[i]) part.dim[i][p->axis] = count;
    return part;
}

static dnnl_status_t make_size(mst_product *p, int size, int64_t count) {
    const mst_product_shape part = part_of(p, count);
    dnnl_status_t status = mst_primitive_get(&part, &p->primitive[size]);
    if (status || mst_primitive_is_sgemm(p->primitive[size])) return status;
    const size_t scratchpad = mst_primitive_scratchpad(p->primitive[size]);
    if (scratchpad > p->scratchpad) p->scratchpad = scratchpad;
    return make_calls(p, size, p->shape.has_bias);
}

/* Bytes of COUNT elements of A or B. */
static int64_t factor_bytes(const mst_product *p, int64_t count) {
    return count * (int64_t)(p->shape.bf16 ? sizeof(uint16_t) : sizeof(float));
}

/* The number of indices of the last part. */
static int64_t rest_of(const mst_product *p) {
    return p->shape.dim[C][p->axis] - (p->parts - 1) * p->chunk;
}

static dnnl_status_t make(mst_product *p) {
    const int64_t rest = rest_of(p);
    dnnl_status_t status = dnnl_success;
    if (p->parts > 1) status = make_size(p, WHOLE, p->chunk);
    if (!status && (p->parts == 1 || rest != p->chunk)) status = make_size(p, REST, rest);
    return status;
}

mst_status mst_product_create(const mst_product_shape *shape, int axis, int64_t chunk, int num_threads,
                              const char *name, mst_product **out) {
    *out = NULL;
    enum { MOST_OF_A_PRIMITIVE = 16 << 20 }; /* oneDNN's bytes for a primitive, at most; the first takes 6 MB */
    MST_TRY(mst_memory_probe(MOST_OF_A_PRIMITIVE));
    MST_TRY(mst_reserve_retain());
    mst_product *p = calloc(1, sizeof *p);
    if (p) p->calls = calloc((size_t)num_threads * NUM_SIZES, sizeof *p->calls);
    if (!p || !p->calls) {
        free(p);
        mst_reserve_release();
        return MST_NO_MEMORY("for a kernel");
    }
    p->num_threads = num_threads;
    p->shape = *shape;
    p->axis = axis;
    p->chunk = chunk;
    p->parts = (shape->dim[C][axis] + chunk - 1) / chunk;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++) {
        /* B does not depend on the rows of C, nor A on its columns; the bias has columns only */
        const bool has_axis = i == C || (i == BIAS ? axis == shape->ndim - 1
                                                   : axis != shape->ndim - (i == A ? 1 : 2) && shape->dim[i][axis] > 1);
        p->step[i] = has_axis ? shape->stride[i][axis] : 0;
    }
    const dnnl_status_t status = make(p);
    if (status) {
        mst_product_destroy(p);
        if (status == dnnl_out_of_memory)
            return MST_NO_MEMORY("for the product '%s': take a smaller batch or model", name);
        return MST_FAIL(MST_INTERNAL, "%s: oneDNN made no primitive, status %d", name, (int)status);
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
    mst_reserve_release();
}

/* ---- B in the layout that oneDNN chooses ---- */

static int64_t bytes_of_b(const mst_product *p, int size) {
    return (int64_t)dnnl_memory_desc_get_size(mst_primitive_description(p->primitive[size], B));
}

/* Whether packing B pays: all parts read packed blocks, these are not much larger than the matrix, and parts that share
 * B read the same blocks. */
static bool is_worth_packing(const mst_product *p) {
    int64_t bytes = 0;
    for (int i = 0; i < NUM_SIZES; i++) {
        if (!p->primitive[i]) continue;
        if (!mst_primitive_reads_packed(p->primitive[i])) return false;
        bytes += bytes_of_b(p, i) * (i == WHOLE && p->step[B] ? p->parts - (p->primitive[REST] ? 1 : 0) : 1);
    }
    const bool both = p->primitive[WHOLE] && p->primitive[REST];
    if (both && !p->step[B]) {
        if (!dnnl_memory_desc_equal(mst_primitive_description(p->primitive[WHOLE], B),
                                    mst_primitive_description(p->primitive[REST], B)))
            return false;
        bytes /= 2; /* both read the same blocks, which were counted twice */
    }
    const int last = p->shape.ndim - 1;
    const int64_t plain = factor_bytes(p, p->shape.dim[B][last] * p->shape.dim[B][last - 1]);
    return bytes * 4 <= plain * 5;
}

/* Packs B. The packed parts follow each other. */
static mst_status pack(mst_product *p, const void *b, mst_tensor **packed) {
    enum { LINE = 64 };
    const int64_t parts = p->step[B] ? p->parts : 1;
    const int first = p->primitive[WHOLE] ? WHOLE : REST;
    p->packed_step = p->step[B] ? (bytes_of_b(p, first) + LINE - 1) / LINE * LINE : 0;
    const int last = p->primitive[REST] ? REST : WHOLE;
    const int64_t bytes = (parts - 1) * p->packed_step + bytes_of_b(p, last);
    MST_TRY(mst_tensor_create(MST_U8, mst_shape_make(1, &bytes), packed));
    memset(mst_tensor_data(*packed), 0, (size_t)bytes);
    dnnl_status_t status = dnnl_success;
    for (int64_t i = 0; i < parts && !status; i++) {
        const bool is_last = i == parts - 1;
        const mst_product_shape part = part_of(p, is_last ? rest_of(p) : p->chunk);
        status = mst_primitive_pack(p->primitive[is_last ? last : WHOLE], &part,
                                    (const char *)b + factor_bytes(p, i * p->chunk * p->step[B]),
                                    (char *)mst_tensor_data(*packed) + i * p->packed_step);
    }
    if (!status) return MST_OK;
    mst_tensor_release(*packed);
    *packed = NULL;
    if (status == dnnl_out_of_memory) return MST_NO_MEMORY("for a packed factor of a product");
    return MST_FAIL(MST_INTERNAL, "oneDNN packed no matrix, status %d", (int)status);
}

mst_status mst_product_pack(mst_product **product, const void *b, mst_tensor **packed) {
    const mst_product *plain = *product;
    mst_product_shape shape = plain->shape;
    mst_product *p;
    *packed = NULL;
    shape.packed = true;
    MST_TRY(mst_product_create(&shape, plain->axis, plain->chunk, plain->num_threads, "packed product", &p));
    mst_status status = is_worth_packing(p) ? pack(p, b, packed) : MST_OK;
    if (!*packed) {
        mst_product_destroy(p);
        return status;
    }
    mst_product_destroy(*product);
    *product = p;
    return MST_OK;
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

static dnnl_status_t execute(mst_product *p, int size, call *k, const void *a, const void *b, const float *bias,
                             float *c, void *scratchpad) {
    dnnl_status_t status = set_data(k, A, a);
    if (!status) status = set_data(k, B, b);
    if (!status && bias) status = set_data(k, BIAS, bias);
    if (!status) status = set_data(k, C, c);
    if (!status) status = set_data(k, SCRATCHPAD, scratchpad);
    if (status) return status;
    return dnnl_primitive_execute(mst_primitive_handle(p->primitive[size]), k->stream, k->num_args, k->args);
}

mst_status mst_product_run(mst_product *p, int64_t part, int thread, void *workspace, const void *a, const void *b,
                           const float *bias, float *c_part) {
    const int size = p->primitive[REST] && part == p->parts - 1 ? REST : WHOLE;
    const int64_t index = part * p->chunk;
    const char *a_part = (const char *)a + factor_bytes(p, index * p->step[A]);
    const char *b_part =
        (const char *)b + (p->shape.packed ? part * p->packed_step : factor_bytes(p, index * p->step[B]));
    dnnl_status_t status;
    if (!mst_primitive_is_sgemm(p->primitive[size])) {
        status = execute(p, size, &p->calls[thread * NUM_SIZES + size], a_part, b_part,
                         bias ? bias + index * p->step[BIAS] : NULL, c_part, workspace);
    } else if ((status = mst_primitive_sgemm(p->primitive[size], a_part, b_part, c_part)) == dnnl_out_of_memory) {
        mst_reserve_spend();
        status = mst_primitive_sgemm(p->primitive[size], a_part, b_part, c_part);
    }
    if (status == dnnl_out_of_memory) return MST_NO_MEMORY("for a product: take a smaller batch or model");
    return status ? MST_FAIL(MST_INTERNAL, "oneDNN failed with status %d", (int)status) : MST_OK;
}
