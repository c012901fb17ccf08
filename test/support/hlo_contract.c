/* The interpreter of StableHLO (support/hlo_interpreter.h): dot_general and convolution. Both are products of
 * matrices, once their elements are in order. */
#include <stdlib.h>
#include <string.h>

#include "support/hlo_inside.h"

/* ---- matrices ---- */

/* Elements are packed in float, double or 64 bits of an integer, and added in these. */
static size_t packed_size(hlo_type type) {
    return type == HLO_F32 || type == HLO_BF16 ? sizeof(float) : sizeof(uint64_t);
}

/* The elements of a strided array, one after the other */
static void pack(hlo_type type, const void *data, int ndim, const int64_t *dim, const int64_t *stride, void *packed) {
    const size_t size = packed_size(type);
    const int64_t line = ndim ? dim[ndim - 1] : 1, step = ndim ? stride[ndim - 1] : 1;
    const int outer = ndim ? ndim - 1 : 0;
    int64_t index[HLO_MOST_DIMS] = {0};
    char *to = packed;
    for (int i = 0; i < ndim; i++)
        if (dim[i] == 0) return;
    do {
        int64_t from = 0;
        for (int i = 0; i < outer; i++) from += index[i] * stride[i];
        for (int64_t i = 0; i < line;) {
            hlo_block block;
            const int n = step != 1 ? 1 : line - i < HLO_BLOCK ? (int)(line - i) : HLO_BLOCK;
            hlo_load(&block, type, data, from + i * step, n);
            memcpy(to, &block, (size_t)n * size);
            to += (size_t)n * size;
            i += n;
        }
    } while (hlo_next_index(outer, dim, index));
}

/* Rounds COUNT packed elements of the class of FROM to the type TO. */
static void round_packed(hlo_type from, hlo_type to, const void *packed, int64_t count, void *data) {
    const size_t size = packed_size(from);
    for (int64_t i = 0; i < count; i += HLO_BLOCK) {
        hlo_block block;
        const int n = count - i < HLO_BLOCK ? (int)(count - i) : HLO_BLOCK;
        memcpy(&block, (const char *)packed + (size_t)i * size, (size_t)n * size);
        if (to == HLO_I1)
            for (int k = 0; k < n; k++) block.u64[k] = block.u64[k] != 0;
        hlo_store(&block, to, data, i, n);
    }
}

#define MULTIPLY(T)                                                            \
    do {                                                                       \
        const T *x = a, *y = b;                                                \
        T *sum = out;                                                          \
        for (int64_t i = 0; i < m; i++, sum += n, x += k) {                    \
            for (int64_t j = 0; j < n; j++) sum[j] = 0;                        \
            for (int64_t l = 0; l < k; l++)                                    \
                for (int64_t j = 0; j < n; j++) sum[j] += x[l] * y[l * n + j]; \
        }                                                                      \
    } while (0)

/* out[m, n] = the sum of a[m, k] * b[k, n] over k, in the order of k; all packed */
static void multiply(hlo_type type, const void *a, const void *b, void *out, int64_t m, int64_t k, int64_t n) {
    if (packed_size(type) == sizeof(float))
        MULTIPLY(float);
    else if (type == HLO_F64)
        MULTIPLY(double);
    else
        MULTIPLY(uint64_t);
}

/* The result has the type of the operands, or one of their kind with more bits. */
static bool check_types(const hlo_check *c) {
    const hlo_type type = hlo_operand_type(c, 0)->type;
    HLO_WANT(hlo_operand_type(c, 1)->type == type, "operand 1 is of another element type than operand 0");
    if (!hlo_want_results(c, 1)) return false;
    const hlo_type to = hlo_result_type(c, 0)->type;
    HLO_WANT(hlo_type_class(to) == hlo_type_class(type) && hlo_type_bits(to) >= hlo_type_bits(type),
             "products of %s are not added in %s", hlo_type_name(type), hlo_type_name(to));
    HLO_WANT((to == HLO_F64) == (type == HLO_F64), "products of %s are not added in %s", hlo_type_name(type),
             hlo_type_name(to));
    const hlo_list *precision = hlo_list_of(c->op, "precision_config");
    HLO_WANT(!precision || precision->num == 2, "precision_config has %d words, not 2", precision->num);
    return true;
}

/* ---- dot_general ---- */

/* Dimensions of an operand of dot_general in the order batching, own, contracting; SWAP: the last two swapped. */
static void order_dims(const hlo_array *type, const hlo_list *batching, const hlo_list *contracting, bool swap,
                       int64_t *dim, int64_t *stride) {
    int64_t own_stride[HLO_MOST_DIMS];
    int at = 0;
    hlo_strides(type, own_stride);
    for (int i = 0; i < batching->num; i++, at++) {
        dim[at] = type->dim[batching->at[i]];
        stride[at] = own_stride[batching->at[i]];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < contracting->num && (pass == 0) == swap; i++, at++) {
            dim[at] = type->dim[contracting->at[i]];
            stride[at] = own_stride[contracting->at[i]];
        }
        for (int i = 0; i < type->ndim && (pass == 0) != swap; i++) {
            if (hlo_list_has(batching, i) || hlo_list_has(contracting, i)) continue;
            dim[at] = type->dim[i];
            stride[at++] = own_stride[i];
        }
    }
}

static bool check_dims(const hlo_check *c, const char *what, const hlo_list *batching, const hlo_list *contracting,
                       int ndim) {
    hlo_list both = *batching;
    HLO_WANT(both.num + contracting->num <= ndim, "%s has more dimensions than its operand", what);
    for (int i = 0; i < contracting->num; i++) both.at[both.num++] = contracting->at[i];
    return hlo_want_dims(c, what, &both, ndim);
}

static bool dot_check(hlo_check *c, hlo_op *op) {
    const hlo_list *list = hlo_attribute_of(op, "dot_dimension_numbers")->list;
    const hlo_array *lhs = hlo_operand_type(c, 0), *rhs = hlo_operand_type(c, 1);
    const hlo_list *batching = &list[HLO_LHS_BATCHING], *rhs_batching = &list[HLO_RHS_BATCHING];
    const hlo_list *contracting = &list[HLO_LHS_CONTRACTING], *rhs_contracting = &list[HLO_RHS_CONTRACTING];
    hlo_array type = {0};
    if (!check_types(c)) return false;
    HLO_WANT(batching->num == rhs_batching->num, "the operands have different numbers of batching dimensions");
    HLO_WANT(contracting->num == rhs_contracting->num, "the operands have different numbers of contracting dimensions");
    if (!check_dims(c, "lhs dimension_numbers", batching, contracting, lhs->ndim) ||
        !check_dims(c, "rhs dimension_numbers", rhs_batching, rhs_contracting, rhs->ndim))
        return false;
    for (int i = 0; i < batching->num; i++)
        HLO_WANT(lhs->dim[batching->at[i]] == rhs->dim[rhs_batching->at[i]], "batching dimensions %d differ", i);
    for (int i = 0; i < contracting->num; i++)
        HLO_WANT(lhs->dim[contracting->at[i]] == rhs->dim[rhs_contracting->at[i]], "contracting dimensions %d differ",
                 i);
    const int num_left = lhs->ndim - contracting->num, num_right = rhs->ndim - rhs_contracting->num - batching->num;
    int64_t dim[HLO_MOST_DIMS], stride[HLO_MOST_DIMS];
    HLO_WANT(num_left + num_right <= HLO_MOST_DIMS, "the result has more than %d dimensions", HLO_MOST_DIMS);
    order_dims(lhs, batching, contracting, false, dim, stride);
    for (int i = 0; i < num_left; i++) type.dim[type.ndim++] = dim[i];
    order_dims(rhs, rhs_batching, rhs_contracting, false, dim, stride);
    for (int i = 0; i < num_right; i++) type.dim[type.ndim++] = dim[batching->num + i];
    type.type = hlo_result_type(c, 0)->type;
    return hlo_want_result(c, 0, &type);
}

static int64_t product_of(const int64_t *dim, int num) {
    int64_t product = 1;
    for (int i = 0; i < num; i++) product *= dim[i];
    return product;
}

static bool dot_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *list = hlo_attribute_of(op, "dot_dimension_numbers")->list;
    const hlo_array *lhs = hlo_type_of(r, op, 0), *rhs = hlo_type_of(r, op, 1), *to = hlo_type_of_result(r, op, 0);
    const int num_batching = list[HLO_LHS_BATCHING].num, num_contracting = list[HLO_LHS_CONTRACTING].num;
    const void *x = hlo_data(r, op, 0), *y = hlo_data(r, op, 1);
    const size_t size = packed_size(lhs->type);
    int64_t dim[HLO_MOST_DIMS], stride[HLO_MOST_DIMS];
    void *out = hlo_new_result(r, op, 0);
    char *a = hlo_scratch(r, lhs->count, size), *b = hlo_scratch(r, rhs->count, size);
    char *sum = hlo_scratch(r, to->count, size);
    const bool done = out && a && b && sum;
    if (done && to->count) {
        order_dims(rhs, &list[HLO_RHS_BATCHING], &list[HLO_RHS_CONTRACTING], true, dim, stride);
        const int64_t n = product_of(dim + num_batching + num_contracting, rhs->ndim - num_batching - num_contracting);
        pack(rhs->type, y, rhs->ndim, dim, stride, b);
        order_dims(lhs, &list[HLO_LHS_BATCHING], &list[HLO_LHS_CONTRACTING], false, dim, stride);
        pack(lhs->type, x, lhs->ndim, dim, stride, a);
        const int64_t batches = product_of(dim, num_batching);
        const int64_t m = product_of(dim + num_batching, lhs->ndim - num_batching - num_contracting);
        const int64_t k = product_of(dim + lhs->ndim - num_contracting, num_contracting);
        for (int64_t i = 0; i < batches; i++)
            multiply(lhs->type, a + (size_t)(i * m * k) * size, b + (size_t)(i * k * n) * size,
                     sum + (size_t)(i * m * n) * size, m, k, n);
        round_packed(lhs->type, to->type, sum, to->count, out);
    }
    free(a);
    free(b);
    free(sum);
    return done;
}

/* ---- convolution ---- */

static int64_t group_count(const hlo_op *op, const char *name) {
    return hlo_attribute_of(op, name)->integer;
}

static bool convolution_check(hlo_check *c, hlo_op *op) {
    const hlo_attribute *numbers = hlo_attribute_of(op, "dimension_numbers");
    const hlo_list *in = &numbers->list[HLO_CONV_LHS], *kernel = &numbers->list[HLO_CONV_RHS];
    const hlo_list *out = &numbers->list[HLO_CONV_OUT];
    const hlo_array *lhs = hlo_operand_type(c, 0), *rhs = hlo_operand_type(c, 1);
    const int64_t features = group_count(op, "feature_group_count"), batches = group_count(op, "batch_group_count");
    const int ndim = lhs->ndim, num_spatial = ndim - 2;
    hlo_array type = {.ndim = ndim};
    hlo_window window[HLO_MOST_DIMS];
    HLO_WANT(numbers->kind == HLO_CONV, "dimension_numbers are not those of convolution");
    HLO_WANT(ndim >= 2 && ndim < HLO_MOST_DIMS, "operand 0 has %d dimensions", ndim);
    HLO_WANT(rhs->ndim == ndim, "operand 1 has %d dimensions, not %d", rhs->ndim, ndim);
    HLO_WANT(in->num == ndim && kernel->num == ndim && out->num == ndim, "dimension_numbers are not for %d dimensions",
             ndim);
    if (!check_types(c) || !hlo_check_windows(c, "lhs_dilation", "rhs_dilation", num_spatial)) return false;
    HLO_WANT(features >= 1 && batches >= 1 && (features == 1 || batches == 1), "not both group counts can be above 1");
    HLO_WANT(lhs->dim[in->at[0]] % batches == 0, "the batch is no multiple of batch_group_count");
    HLO_WANT(lhs->dim[in->at[1]] % features == 0, "the input features are no multiple of feature_group_count");
    HLO_WANT(rhs->dim[kernel->at[0]] == lhs->dim[in->at[1]] / features, "the kernel has %lld input features, not %lld",
             (long long)rhs->dim[kernel->at[0]], (long long)(lhs->dim[in->at[1]] / features));
    HLO_WANT(rhs->dim[kernel->at[1]] % (features * batches) == 0, "the output features are no multiple of the groups");
    hlo_windows(op, "lhs_dilation", "rhs_dilation", num_spatial, window);
    for (int i = 0; i < num_spatial; i++) {
        window[i].size = rhs->dim[kernel->at[2 + i]];
        type.dim[out->at[2 + i]] = hlo_num_windows(&window[i], lhs->dim[in->at[2 + i]]);
    }
    type.dim[out->at[0]] = lhs->dim[in->at[0]] / batches;
    type.dim[out->at[1]] = rhs->dim[kernel->at[1]];
    type.type = hlo_result_type(c, 0)->type;
    return hlo_want_result(c, 0, &type);
}

/* A convolution of [batch, spatial..., features] with [groups, spatial..., input features, features of a group]. Each
 * window is a row of a matrix, which is multiplied with the kernel. */
typedef struct convolution {
    int num_spatial;
    hlo_window window[HLO_MOST_DIMS];
    int64_t dim[HLO_MOST_DIMS], size[HLO_MOST_DIMS], num[HLO_MOST_DIMS]; /* of image, window, result; spatial ones */
    int64_t image, rows, columns;                                        /* elements; windows; elements of a window */
    int64_t batch, features, groups, batches, in, out;                   /* of the result; batch groups; of a group */
} convolution;

static convolution convolution_of(const hlo_run_state *r, const hlo_op *op) {
    const hlo_list *list = hlo_attribute_of(op, "dimension_numbers")->list;
    const hlo_array *lhs = hlo_type_of(r, op, 0), *rhs = hlo_type_of(r, op, 1), *to = hlo_type_of_result(r, op, 0);
    convolution v = {.num_spatial = lhs->ndim - 2, .image = 1, .rows = 1, .columns = 1};
    hlo_windows(op, "lhs_dilation", "rhs_dilation", v.num_spatial, v.window);
    for (int i = 0; i < v.num_spatial; i++) {
        v.image *= v.dim[i] = lhs->dim[list[HLO_CONV_LHS].at[2 + i]];
        v.columns *= v.window[i].size = v.size[i] = rhs->dim[list[HLO_CONV_RHS].at[2 + i]];
        v.rows *= v.num[i] = to->dim[list[HLO_CONV_OUT].at[2 + i]];
    }
    v.batches = group_count(op, "batch_group_count");
    v.groups = v.batches * group_count(op, "feature_group_count");
    v.batch = to->dim[list[HLO_CONV_OUT].at[0]];
    v.features = lhs->dim[list[HLO_CONV_LHS].at[1]];
    v.in = rhs->dim[list[HLO_CONV_RHS].at[0]];
    v.out = rhs->dim[list[HLO_CONV_RHS].at[1]] / v.groups;
    v.image *= v.features;
    v.columns *= v.in;
    return v;
}

/* The windows of an image, from input feature FIRST on, as rows; padding is 0. */
static void copy_windows(const convolution *v, const char *image, int64_t first, size_t size, char *row) {
    int64_t index[HLO_MOST_DIMS] = {0}, stride[HLO_MOST_DIMS], step = v->features;
    for (int i = v->num_spatial - 1; i >= 0; i--) {
        stride[i] = step;
        step *= v->dim[i];
    }
    do {
        int64_t element[HLO_MOST_DIMS] = {0};
        do {
            const int64_t at = hlo_window_offset(v->window, v->num_spatial, index, element, v->dim, stride);
            if (at < 0)
                memset(row, 0, (size_t)v->in * size);
            else
                memcpy(row, image + (size_t)(at + first) * size, (size_t)v->in * size);
            row += (size_t)v->in * size;
        } while (hlo_next_index(v->num_spatial, v->size, element));
    } while (hlo_next_index(v->num_spatial, v->num, index));
}

/* Packed images and kernels to packed results; MATRIX and SUM have room for an image's windows and their products. */
static void convolve(const convolution *v, hlo_type type, const char *images, const char *kernels, char *matrix,
                     char *sum, char *out) {
    const size_t size = packed_size(type);
    for (int64_t g = 0; g < v->groups; g++) {
        for (int64_t n = 0; n < v->batch; n++) {
            const int64_t image = v->batches > 1 ? g * v->batch + n : n;
            if (v->columns)
                copy_windows(v, images + (size_t)(image * v->image) * size, v->batches > 1 ? 0 : g * v->in, size,
                             matrix);
            multiply(type, matrix, kernels + (size_t)(g * v->columns * v->out) * size, sum, v->rows, v->columns,
                     v->out);
            for (int64_t i = 0; i < v->rows; i++)
                memcpy(out + (size_t)(((n * v->rows + i) * v->groups + g) * v->out) * size,
                       sum + (size_t)(i * v->out) * size, (size_t)v->out * size);
        }
    }
}

/* Dimensions and strides of an array in the order batch, spatial ones, features */
static void order_images(const hlo_array *type, const hlo_list *layout, int64_t *dim, int64_t *stride) {
    int64_t own_stride[HLO_MOST_DIMS];
    hlo_strides(type, own_stride);
    for (int i = 0; i < type->ndim; i++) {
        const int64_t from = layout->at[i == 0 ? 0 : i == type->ndim - 1 ? 1 : i + 1];
        dim[i] = type->dim[from];
        stride[i] = own_stride[from];
    }
}

/* The same of the kernel, in the order groups, spatial ones, input features, features of a group */
static void order_kernel(const hlo_array *type, const hlo_list *layout, int64_t groups, int64_t *dim, int64_t *stride) {
    int64_t own_stride[HLO_MOST_DIMS];
    const int ndim = type->ndim;
    hlo_strides(type, own_stride);
    for (int i = 0; i < ndim - 2; i++) {
        dim[1 + i] = type->dim[layout->at[2 + i]];
        stride[1 + i] = own_stride[layout->at[2 + i]];
    }
    dim[0] = groups;
    dim[ndim - 1] = type->dim[layout->at[0]];
    dim[ndim] = type->dim[layout->at[1]] / groups;
    stride[0] = dim[ndim] * own_stride[layout->at[1]];
    stride[ndim - 1] = own_stride[layout->at[0]];
    stride[ndim] = own_stride[layout->at[1]];
}

static bool convolution_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *list = hlo_attribute_of(op, "dimension_numbers")->list;
    const hlo_array *lhs = hlo_type_of(r, op, 0), *rhs = hlo_type_of(r, op, 1), *to = hlo_type_of_result(r, op, 0);
    const convolution v = convolution_of(r, op);
    const size_t size = packed_size(lhs->type);
    const void *x = hlo_data(r, op, 0), *y = hlo_data(r, op, 1);
    int64_t dim[HLO_MOST_DIMS], stride[HLO_MOST_DIMS], own_stride[HLO_MOST_DIMS], step = 1;
    void *out = hlo_new_result(r, op, 0);
    if (!out) return false;
    if (to->count == 0) return true;
    char *images = hlo_scratch(r, lhs->count, size), *kernels = hlo_scratch(r, rhs->count, size);
    char *matrix = hlo_scratch(r, v.columns ? v.rows * v.columns : 0, size);
    char *sum = hlo_scratch(r, v.rows * v.out, size), *packed = hlo_scratch(r, to->count, size);
    char *rounded = hlo_scratch(r, to->count, hlo_type_size(to->type));
    const bool done = images && kernels && matrix && sum && packed && rounded;
    if (done) {
        order_images(lhs, &list[HLO_CONV_LHS], dim, stride);
        pack(lhs->type, x, lhs->ndim, dim, stride, images);
        order_kernel(rhs, &list[HLO_CONV_RHS], v.groups, dim, stride);
        pack(rhs->type, y, rhs->ndim + 1, dim, stride, kernels);
        convolve(&v, lhs->type, images, kernels, matrix, sum, packed);
        round_packed(lhs->type, to->type, packed, to->count, rounded);
        order_images(to, &list[HLO_CONV_OUT], dim, stride);
        for (int i = to->ndim - 1; i >= 0; i--) {
            own_stride[i] = step;
            step *= dim[i];
        }
        hlo_copy(to->ndim, dim, out, stride, rounded, own_stride, hlo_type_size(to->type));
    }
    free(images);
    free(kernels);
    free(matrix);
    free(sum);
    free(packed);
    free(rounded);
    return done;
}

const hlo_row hlo_contract_rows[] = {
    {"convolution", 0, 2, 0, HLO_IS_ANY,
     "dimension_numbers feature_group_count batch_group_count window_strides? padding? lhs_dilation? rhs_dilation? "
     "window_reversal? precision_config?",
     convolution_check, convolution_run},
    {"dot_general", 0, 2, 0, HLO_IS_ANY, "dot_dimension_numbers precision_config?", dot_check, dot_run},
    {0},
};
