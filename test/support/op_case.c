/* Values for an example's sources, the graph around its op, and its runs. The reference kernel is called with
 * tensors of exactly the bytes that they need, so that the address sanitizer sees one that goes over the end, and
 * with outputs full of garbage. */
#include "support/op_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/test.h"

static const char *const variants[] = {"",          ", first dimension 0", ", all dimensions 0", ", no examples",
                                       ", no rows", ", all dimensions 1"};

/* Whether dimension K of a source of SHAPE is 0 in this variant. */
static bool is_emptied(const op_case *c, const mst_shape *shape, int k) {
    const mst_shape first = mst_shape_make(c->example->src[0].ndim, c->example->src[0].dim);
    const bool is_as_long = k == 0 && first.ndim > 0 && shape->dim[0] == first.dim[0];
    switch (c->variant) {
        case OP_EMPTY: return true;
        case OP_EMPTY_FIRST: return k == 0;
        case OP_NO_EXAMPLES: return is_as_long && shape->ndim == first.ndim;
        case OP_NO_ROWS: return is_as_long;
        default: return false;
    }
}

static mst_shape shape_of(const op_case *c, int i) {
    mst_shape shape = mst_shape_make(c->example->src[i].ndim, c->example->src[i].dim);
    for (int k = 0; k < shape.ndim; k++) {
        if (is_emptied(c, &shape, k)) shape.dim[k] = 0;
        if (c->variant == OP_ONE) shape.dim[k] = 1;
    }
    return shape;
}

static mst_tensor *value_of(const op_case *c, int i, mst_dtype dtype) {
    double low = c->example->src[i].low, high = c->example->src[i].high;
    if (low == 0 && high == 0) {
        low = dtype == MST_U8 || dtype == MST_BOOL ? 0 : -2;
        high = dtype == MST_BOOL ? 1 : 2;
    }
    const mst_shape shape = shape_of(c, i);
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    const double *given = c->example->src[i].value;
    const int64_t num_given = mst_shape_count(mst_shape_make(c->example->src[i].ndim, c->example->src[i].dim));
    const mst_rng rng = mst_rng_make(mst_rng_hash_name(c->op->name), (uint64_t)i, (uint64_t)dtype);
    for (int64_t e = 0; e < mst_tensor_count(tensor); e++) {
        uint32_t word[4];
        mst_rng_blocks(&rng, (uint64_t)e, 1, 0, word);
        const double unit = mst_rng_unit_f64(word[0], word[1]);
        double x = mst_dtype_is_float(dtype) ? low + (high - low) * unit : floor(low + (high - low + 1) * unit);
        if (given && num_given > 0) x = given[e % num_given];
        engine_set(tensor, e, x);
    }
    return tensor;
}

void op_case_begin(op_case *c, const mst_op *op, const mst_example *example, mst_dtype dtype, op_variant variant) {
    *c = (op_case){.op = op, .example = example, .variant = variant};
    snprintf(c->label, sizeof c->label, "%s, example %d '%s'%s%s%s", op->name, (int)(example - op->examples),
             example->name ? example->name : "", dtype ? ", " : "", dtype ? mst_dtype_name(dtype) : "",
             variants[variant]);
    for (int i = 0; i < example->num_src; i++)
        c->value[i] = value_of(c, i, example->src[i].dtype ? example->src[i].dtype : dtype);
}

static void drop_graph(op_case *c) {
    mst_session_destroy(c->session);
    mst_graph_destroy(c->graph);
    c->session = NULL;
    c->graph = NULL;
}

void op_case_end(op_case *c) {
    drop_graph(c);
    op_case_release(c->value, c->example->num_src);
}

void op_case_release(mst_tensor **tensor, int count) {
    for (int i = 0; i < count; i++) {
        mst_tensor_release(tensor[i]);
        tensor[i] = NULL;
    }
}

/* The same values, which no pass sees through. */
static mst_value computed(mst_value x, mst_dtype dtype) {
    if (dtype == MST_STRING) return mst_unstack(mst_stack(&x, 1, 0), 0);
    if (dtype == MST_BOOL) return mst_logical_or(x, x);
    if (dtype == MST_BF16) return mst_cast(computed(mst_cast(x, MST_F32), MST_F32), MST_BF16);
    return mst_maximum(x, x);
}

mst_status op_case_build(op_case *c, op_source source) {
    drop_graph(c);
    EXPECT_OK(mst_graph_create(&c->graph));
    c->source = source;
    for (int i = 0; i < c->example->num_src; i++) {
        mst_shape shape = mst_tensor_shape(c->value[i]);
        for (int k = 0; k < shape.ndim && source == OP_FED_OPEN; k++) shape.dim[k] = -1;
        const mst_dtype dtype = mst_tensor_dtype(c->value[i]);
        if (source == OP_CONSTANT)
            c->src[i] = mst_constant(c->graph, c->value[i]);
        else
            c->src[i] = c->fed[i] = mst_placeholder(.graph = c->graph, .dtype = dtype, .shape = shape);
        if (source == OP_COMPUTED) c->src[i] = computed(c->fed[i], dtype);
    }
    /* options that are left out are all zero */
    void *zero = calloc(1, c->op->options_size + 1);
    assert_non_null(zero);
    c->out = mst_call(c->graph, c->op, c->example->num_src, c->src, c->example->options ? c->example->options : zero);
    free(zero);
    MST_TRY(mst_graph_check(c->graph));
    c->num_dst = mst_node_num_dst(c->out.node);
    assert_in_range(c->num_dst, 1, OP_MOST_DST);
    return MST_OK;
}

/* A tensor of exactly as many bytes as it needs, so that the address sanitizer sees a kernel that goes over the end. */
static mst_tensor *exact_tensor(mst_dtype dtype, mst_shape shape) {
    enum { ALIGNMENT = 64 };
    void *data;
    mst_tensor *tensor;
    assert_int_equal(posix_memalign(&data, ALIGNMENT, (size_t)mst_shape_count(shape) * mst_dtype_size(dtype)), 0);
    EXPECT_OK(mst_tensor_wrap(dtype, shape, data, free, data, &tensor));
    return tensor;
}

static mst_array array_of(mst_tensor *tensor, bool shape_only) {
    return (mst_array){.data = shape_only ? NULL : mst_tensor_data(tensor),
                       .count = mst_tensor_count(tensor),
                       .dtype = mst_tensor_dtype(tensor),
                       .shape = mst_tensor_shape(tensor)};
}

static void fill(void *data, size_t bytes) {
    static int garbage = 0xA5;
    garbage ^= 0xFF;
    if (bytes) memset(data, garbage, bytes);
}

static void *workspace_of(const op_case *c) {
    mst_spec src[MST_EXAMPLE_SRC], dst[OP_MOST_DST];
    const char *name[MST_EXAMPLE_SRC];
    for (int i = 0; i < c->example->num_src; i++) {
        src[i] = mst_value_spec(c->src[i]);
        name[i] = mst_value_name(c->src[i]);
    }
    for (int i = 0; i < c->num_dst; i++) dst[i] = mst_value_spec(mst_value_output(c->out, i));
    const mst_infer infer = {.op = c->op,
                             .options = mst_node_options(c->out.node),
                             .name = mst_value_name(c->out),
                             .num_src = c->example->num_src,
                             .src = src,
                             .src_name = name,
                             .num_dst = c->num_dst,
                             .dst = dst};
    const size_t bytes = c->op->workspace ? c->op->workspace(&infer, 1) : 0;
    enum { ALIGNMENT = 64 };
    void *workspace = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    assert_non_null(workspace);
    fill(workspace, bytes);
    return workspace;
}

static mst_status expect_unchanged(const op_case *c, int alias, mst_tensor *const *copy) {
    for (int i = 0; i < c->example->num_src; i++)
        if (i != alias && mst_tensor_bytes(copy[i]) &&
            memcmp(mst_tensor_data(copy[i]), mst_tensor_data(c->value[i]), mst_tensor_bytes(c->value[i])) != 0)
            return MST_FAIL(MST_INTERNAL, "the kernel of %s changed source %d", c->op->name, i);
    return MST_OK;
}

mst_status op_case_reference(op_case *c, int alias, mst_tensor **dst) {
    const int num_src = c->example->num_src;
    mst_tensor *copy[MST_EXAMPLE_SRC] = {NULL};
    mst_array src_array[MST_EXAMPLE_SRC], dst_array[OP_MOST_DST];
    for (int i = 0; i < num_src; i++) {
        copy[i] = exact_tensor(mst_tensor_dtype(c->value[i]), mst_tensor_shape(c->value[i]));
        if (mst_tensor_bytes(copy[i]))
            memcpy(mst_tensor_data(copy[i]), mst_tensor_data(c->value[i]), mst_tensor_bytes(copy[i]));
        src_array[i] = array_of(copy[i], (c->op->shape_only >> i & 1u) && i != alias);
    }
    for (int i = 0; i < c->num_dst; i++) {
        const mst_spec spec = mst_value_spec(mst_value_output(c->out, i));
        dst[i] = exact_tensor(spec.dtype, spec.shape);
        fill(mst_tensor_data(dst[i]), mst_tensor_bytes(dst[i]));
        dst_array[i] = array_of(dst[i], false);
    }
    if (alias >= 0) dst_array[0].data = src_array[alias].data;
    void *workspace = workspace_of(c);
    const mst_step step = {0};
    const mst_kernel_args args = {.op = c->op,
                                  .options = mst_node_options(c->out.node),
                                  .name = mst_value_name(c->out),
                                  .num_src = num_src,
                                  .src = src_array,
                                  .num_dst = c->num_dst,
                                  .dst = dst_array,
                                  .workspace = workspace,
                                  .step = &step,
                                  .num_threads = 1};
    mst_status status = c->op->reference(&args);
    if (alias >= 0 && mst_tensor_bytes(dst[0]))
        memcpy(mst_tensor_data(dst[0]), dst_array[0].data, mst_tensor_bytes(dst[0]));
    if (!status) status = expect_unchanged(c, alias, copy);
    if (status) op_case_release(dst, c->num_dst);
    op_case_release(copy, num_src);
    free(workspace);
    return status;
}

mst_status op_case_run(op_case *c, const mst_value *fetches, int num_fetches, mst_tensor **outputs) {
    mst_feed feeds[MST_EXAMPLE_SRC];
    const int num_feeds = c->source == OP_CONSTANT ? 0 : c->example->num_src;
    for (int i = 0; i < num_feeds; i++) feeds[i] = (mst_feed){.value = c->fed[i], .tensor = c->value[i]};
    if (!c->session) EXPECT_OK(mst_session_create(c->graph, NULL, &c->session));
    engine_set_run(c->session, -1); /* the random numbers of step 0 */
    return mst_session_run(c->session, feeds, num_feeds, fetches, num_fetches, outputs);
}
