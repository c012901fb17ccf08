/** reduce_prod_others: dst[i] = the product of all other elements src[k], k != i, that reduce_prod over axes multiplies
 *  with src[i]
 *
 *  src   f32 or f64, any shape
 *  dst   like src
 *  axes  negative ones count from the end; none: all
 *
 *  The derivative of reduce_prod. It does not divide, so that src may have zeros. f32 is multiplied in f64 and rounded
 *  once.
 */
#include "op/op.h"
#include "op/reduce/reduce.h"
#include "op/share.h"

typedef struct prod_others_options {
    int zero_;
    mst_axes axes;
} prod_others_options;

static const mst_field reduce_prod_others_fields[] = {
    MST_FIELD_AXES(prod_others_options, axes, "axes of the reduction; none: all"),
    MST_FIELD_END,
};

static mst_status reduce_prod_others_infer(mst_infer *c) {
    MST_TRY(mst_reduce_infer_axes(c, &((const prod_others_options *)c->options)->axes, false));
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_value reduce_prod_others_grad(mst_grad *c, int i) {
    (void)i;
    return mst_reduce_prod_others_grad(c->ddst[0], c->src[0], ((const prod_others_options *)c->options)->axes);
}

/* SRC, f64, as a matrix: each column has the elements that are multiplied with each other. Sets *PERM to the order in
 * which the axes of SRC were put. */
static mst_hlo columns_of(mst_lower *l, mst_hlo src, mst_axes *perm) {
    const mst_spec spec = mst_hlo_spec(l, src);
    const mst_axes axes = mst_reduce_axes(&((const prod_others_options *)l->options)->axes, spec.shape.ndim);
    int64_t n = 1, others = 1;
    bool is_reduced[MST_MAX_NDIM] = {false};
    *perm = axes;
    for (int k = 0; k < axes.count; k++) is_reduced[axes.axis[k]] = true;
    for (int k = 0; k < spec.shape.ndim; k++) {
        *(is_reduced[k] ? &n : &others) *= spec.shape.dim[k];
        if (!is_reduced[k]) perm->axis[perm->count++] = k;
    }
    const mst_hlo moved = mst_hlo_transpose(l, mst_hlo_convert(l, src, MST_F64), *perm);
    return mst_hlo_reshape(l, moved, MST_SHAPE(n, others));
}

/* The inverse of columns_of: COLUMNS in the shape and dtype of output 0. */
static mst_hlo of_columns(mst_lower *l, mst_hlo columns, const mst_axes *perm) {
    const mst_spec dst = l->dst_spec[0];
    mst_shape moved = dst.shape;
    mst_axes inverse = {.count = perm->count};
    for (int k = 0; k < perm->count; k++) {
        moved.dim[k] = dst.shape.dim[perm->axis[k]];
        inverse.axis[perm->axis[k]] = k;
    }
    return mst_hlo_convert(l, mst_hlo_transpose(l, mst_hlo_reshape(l, columns, moved), inverse), dst.dtype);
}

/* X moved down by DISTANCE rows (up if it is negative). The rows that become free are VALUE. */
static mst_hlo shifted(mst_lower *l, mst_hlo x, int64_t distance, double value) {
    const int64_t low[] = {distance, 0}, high[] = {-distance, 0};
    return mst_hlo_pad(l, x, mst_hlo_number(l, MST_F64, value), low, high, NULL);
}

/* Replaces each row of *P by the product of the rows before it (after it, if DIRECTION is -1). If Q is not NULL, *Q has
 * the gradients of the rows. Each row of *Q is then replaced by q_j of multiply_others_grad: the sum over the same rows
 * of a row's gradient times the product of the other rows. The distance d doubles in each step; after it, each row
 * covers up to 2 d rows. */
static void fold_rows(mst_lower *l, int direction, mst_hlo *p, mst_hlo *q) {
    const int64_t n = mst_hlo_spec(l, *p).shape.dim[0];
    if (n == 0) return;
    for (int64_t distance = 1; distance < n; distance *= 2) {
        const mst_hlo before = shifted(l, *p, direction * distance, 1);
        if (q) {
            const mst_hlo sum_before = shifted(l, *q, direction * distance, 0);
            *q = mst_hlo_binary(l, "add", mst_hlo_binary(l, "multiply", sum_before, *p),
                                mst_hlo_binary(l, "multiply", before, *q));
        }
        *p = mst_hlo_binary(l, "multiply", before, *p);
    }
    *p = shifted(l, *p, direction, 1);
    if (q) *q = shifted(l, *q, direction, 0);
}

static void reduce_prod_others_lower(mst_lower *l) {
    mst_axes perm;
    mst_hlo before = columns_of(l, l->src[0], &perm), after = before;
    fold_rows(l, 1, &before, NULL);
    fold_rows(l, -1, &after, NULL);
    l->dst[0] = of_columns(l, mst_hlo_binary(l, "multiply", before, after), &perm);
}

/* For each thread, two arrays over the elements of one output: `value` and `others`. */
static size_t reduce_prod_others_workspace(const mst_infer *c, int num_threads) {
    const mst_reduce_loops r = mst_reduce_loops_over(c->src[0].shape, &((const prod_others_options *)c->options)->axes);
    return 2 * (size_t)num_threads * (size_t)r.count * sizeof(double);
}

/* others[i] = (product of all values before i) * (product of all values after i) */
static void multiply_others(const double *value, int64_t n, double *others) {
    double before = 1, after = 1;
    for (int64_t i = 0; i < n; i++) {
        others[i] = before;
        before *= value[i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        others[i] *= after;
        after *= value[i];
    }
}

typedef struct prod_others_work {
    const mst_kernel_args *args;
    mst_reduce_loops reduction;
} prod_others_work;

/* Computes dst for the elements that go into outputs BEGIN to END - 1 of the reduction. */
static mst_status reduce_prod_others_run(void *context, int64_t begin, int64_t end, int thread) {
    const prod_others_work *w = context;
    const bool is_f32 = w->args->src[0].dtype == MST_F32;
    const void *src = w->args->src[0].data;
    void *dst = w->args->dst[0].data;
    mst_loops kept, reduced;
    mst_reduce_loops_groups(&w->reduction, &kept, &reduced);
    double *value = (double *)w->args->workspace + 2 * w->reduction.count * thread;
    double *others = value + w->reduction.count;
    int64_t kept_index[MST_MAX_REDUCED], base;
    mst_loops_seek(&kept, begin, kept_index, &base);
    for (int64_t i = begin; i < end; i++, mst_loops_next(&kept, kept_index, &base)) {
        int64_t index[MST_MAX_REDUCED] = {0}, offset = base, n = 0;
        do {
            value[n++] = is_f32 ? (double)((const float *)src)[offset] : ((const double *)src)[offset];
        } while (mst_loops_next(&reduced, index, &offset));
        multiply_others(value, n, others);
        n = 0;
        do { /* mst_loops_next has gone back to the first element */
            if (is_f32)
                ((float *)dst)[offset] = (float)others[n++];
            else
                ((double *)dst)[offset] = others[n++];
        } while (mst_loops_next(&reduced, index, &offset));
    }
    return MST_OK;
}

static mst_status reduce_prod_others_reference(const mst_kernel_args *a) {
    prod_others_work w = {
        .args = a,
        .reduction = mst_reduce_loops_over(a->src[0].shape, &((const prod_others_options *)a->options)->axes)};
    if (a->src[0].count == 0) return MST_OK;
    return mst_parallel(a, w.reduction.outputs, mst_grain(w.reduction.outputs, 8 * w.reduction.count),
                        reduce_prod_others_run, &w);
}

static const mst_example reduce_prod_others_examples[] = {
    {.name = "all axes",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){2, 3, 4}}},
     .expect = {(const double[]){12, 8, 6}}},
    {.name = "zeros",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){2, 0, 0, 3, 4, 0}}},
     .options = &(const prod_others_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){0, 0, 8, 0, 0, 0}}},
    {.name = "one element each",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 1}}},
     .options = &(const prod_others_options){.axes = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){1, 1}}},
    {.name = "two axes of three",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 3, 2}}},
     .options = &(const prod_others_options){.axes = {.count = 2, .axis = {0, -1}}}},
    {.name = "empty", .num_src = 1, .src = {{.ndim = 2, .dim = {0, 2}}}},
    {.name = "integers", .num_src = 1, .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_reduce_prod_others = {
    .name = "reduce_prod_others",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = reduce_prod_others_fields,
    .options_size = sizeof(prod_others_options),
    .infer = reduce_prod_others_infer,
    .grad = reduce_prod_others_grad,
    .workspace = reduce_prod_others_workspace,
    .reference = reduce_prod_others_reference,
    .lower = reduce_prod_others_lower,
    MST_EXAMPLES(reduce_prod_others_examples),
};

mst_value mst_reduce_prod_others(mst_value src, mst_axes axes) {
    return mst_call(NULL, &mst_op_reduce_prod_others, 1, &src, &(prod_others_options){.axes = axes});
}

/* ---- the gradient ---- */

/** reduce_prod_others_grad: dst[j] = sum over i != j of gradient[i] * (product of src[k], k != i and k != j)
 *
 *  gradient  f32 or f64, any shape: gradient of the output of reduce_prod_others
 *  src       like gradient: source of reduce_prod_others
 *  dst       like src: gradient of that source
 *  axes      those of reduce_prod_others; i, j and k are elements that go into the same output of the reduction
 *
 *  Computed in f64, without a division. It has a gradient with respect to `gradient` only, so reduce_prod can be
 *  differentiated twice.
 */

static mst_status reduce_prod_others_grad_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &shape));
    MST_TRY(mst_reduce_infer_axes(c, &((const prod_others_options *)c->options)->axes, false));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = shape};
    return MST_OK;
}

/* dst = M gradient, where M[i][j] is the product of all src except i and j. M is symmetric: it is its own transpose. */
static mst_value reduce_prod_others_grad_grad(mst_grad *c, int i) {
    if (i == 0)
        return mst_reduce_prod_others_grad(c->ddst[0], c->src[1], ((const prod_others_options *)c->options)->axes);
    return mst_value_fail(c->graph, MST_UNIMPLEMENTED, "reduce_prod: there is no third derivative");
}

static void reduce_prod_others_grad_lower(mst_lower *l) {
    mst_axes perm;
    mst_hlo q_before = columns_of(l, l->src[0], &perm), q_after = q_before;
    mst_hlo p_before = columns_of(l, l->src[1], &perm), p_after = p_before;
    fold_rows(l, 1, &p_before, &q_before);
    fold_rows(l, -1, &p_after, &q_after);
    const mst_hlo first = mst_hlo_binary(l, "multiply", q_before, p_after);
    const mst_hlo second = mst_hlo_binary(l, "multiply", p_before, q_after);
    l->dst[0] = of_columns(l, mst_hlo_binary(l, "add", first, second), &perm);
}

/* For each thread, four arrays over the elements of one output: g, x, p and q of multiply_others_grad. */
static size_t reduce_prod_others_grad_workspace(const mst_infer *c, int num_threads) {
    const mst_reduce_loops r = mst_reduce_loops_over(c->src[0].shape, &((const prod_others_options *)c->options)->axes);
    return 4 * (size_t)num_threads * (size_t)r.count * sizeof(double);
}

/* For the elements before j, p_j is the product of all x_i, and q_j is the sum over i of g_i times the product of the x
 * without x_i:
 *
 *      p_0 = 1,  p_(j+1) = p_j x_j
 *      q_0 = 0,  q_(j+1) = q_j x_j + g_j p_j
 *
 * p'_j and q'_j are the same for the elements after j. The result, q_j p'_j + p_j q'_j, is written to q. */
static void multiply_others_grad(const double *g, const double *x, int64_t n, double *p, double *q) {
    double product = 1, sum = 0;
    for (int64_t j = 0; j < n; j++) {
        p[j] = product;
        q[j] = sum;
        sum = sum * x[j] + g[j] * product;
        product *= x[j];
    }
    product = 1;
    sum = 0;
    for (int64_t j = n - 1; j >= 0; j--) {
        q[j] = q[j] * product + p[j] * sum;
        sum = sum * x[j] + g[j] * product;
        product *= x[j];
    }
}

static double element_f64(const mst_array *array, int64_t i) {
    return array->dtype == MST_F32 ? (double)((const float *)array->data)[i] : ((const double *)array->data)[i];
}

/* Computes dst for the elements that go into outputs BEGIN to END - 1 of the reduction. */
static mst_status reduce_prod_others_grad_run(void *context, int64_t begin, int64_t end, int thread) {
    const prod_others_work *w = context;
    const mst_kernel_args *a = w->args;
    const int64_t count = w->reduction.count;
    mst_loops kept, reduced;
    mst_reduce_loops_groups(&w->reduction, &kept, &reduced);
    double *g = (double *)a->workspace + 4 * count * thread, *x = g + count, *p = x + count, *q = p + count;
    int64_t kept_index[MST_MAX_REDUCED], base;
    mst_loops_seek(&kept, begin, kept_index, &base);
    for (int64_t i = begin; i < end; i++, mst_loops_next(&kept, kept_index, &base)) {
        int64_t index[MST_MAX_REDUCED] = {0}, offset = base, n = 0;
        do {
            g[n] = element_f64(&a->src[0], offset);
            x[n++] = element_f64(&a->src[1], offset);
        } while (mst_loops_next(&reduced, index, &offset));
        multiply_others_grad(g, x, n, p, q);
        n = 0;
        do { /* mst_loops_next has gone back to the first element */
            if (a->dst[0].dtype == MST_F32)
                ((float *)a->dst[0].data)[offset] = (float)q[n++];
            else
                ((double *)a->dst[0].data)[offset] = q[n++];
        } while (mst_loops_next(&reduced, index, &offset));
    }
    return MST_OK;
}

static mst_status reduce_prod_others_grad_reference(const mst_kernel_args *a) {
    const mst_axes *axes = &((const prod_others_options *)a->options)->axes;
    prod_others_work w = {.args = a, .reduction = mst_reduce_loops_over(a->src[0].shape, axes)};
    if (a->src[0].count == 0) return MST_OK;
    return mst_parallel(a, w.reduction.outputs, mst_grain(w.reduction.outputs, 8 * w.reduction.count),
                        reduce_prod_others_grad_run, &w);
}

static const mst_example reduce_prod_others_grad_examples[] = {
    {.name = "three elements",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 10, 100}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){2, 3, 4}, .no_grad = true}},
     .expect = {(const double[]){340, 204, 23}}},
    {.name = "columns with zeros",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 1, 2, 2, 3, 3}},
             {.ndim = 2, .dim = {3, 2}, .value = (const double[]){0, 0, 0, 4, 5, 6}, .no_grad = true}},
     .options = &(const prod_others_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){10, 24, 5, 6, 0, 4}}},
    {.name = "two axes of three",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 3, 2}}, {.ndim = 3, .dim = {2, 3, 2}, .no_grad = true}},
     .options = &(const prod_others_options){.axes = {.count = 2, .axis = {0, -1}}}},
    {.name = "one element",
     .num_src = 2,
     .src = {{.ndim = 0}, {.ndim = 0, .no_grad = true}},
     .expect = {(const double[]){0}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 2, .dim = {0, 2}}, {.ndim = 2, .dim = {0, 2}, .no_grad = true}}},
    {.name = "shapes differ",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reduce_prod_others_grad = {
    .name = "reduce_prod_others_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = reduce_prod_others_fields,
    .options_size = sizeof(prod_others_options),
    .infer = reduce_prod_others_grad_infer,
    .grad = reduce_prod_others_grad_grad,
    .workspace = reduce_prod_others_grad_workspace,
    .reference = reduce_prod_others_grad_reference,
    .lower = reduce_prod_others_grad_lower,
    MST_EXAMPLES(reduce_prod_others_grad_examples),
};

mst_value mst_reduce_prod_others_grad(mst_value gradient, mst_value src, mst_axes axes) {
    return mst_call(NULL, &mst_op_reduce_prod_others_grad, 2, (mst_value[]){gradient, src},
                    &(prod_others_options){.axes = axes});
}
