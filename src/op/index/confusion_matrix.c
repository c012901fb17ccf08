/** confusion_matrix: dst[l, p] = number of i with labels[i] = l and predictions[i] = p
 *
 *  labels       [n], i32, i64 or u8
 *  predictions  [n], labels' dtype
 *  dst          [num_classes, num_classes], i64: rows are labels, columns predictions
 *  num_classes  1 to 2^20
 *
 *  A label or prediction outside [0, num_classes) makes the run fail, with an error that names it.
 */
#ifdef MST_OP_HEADER
typedef struct mst_confusion_matrix_options {
    int zero_;
    mst_value labels, predictions;
    int64_t num_classes;
} mst_confusion_matrix_options;
MST_API mst_value mst_confusion_matrix_with(mst_confusion_matrix_options options);
#define mst_confusion_matrix(...) \
    mst_confusion_matrix_with(MST_NAMED_2(mst_confusion_matrix_options, labels, predictions, __VA_ARGS__))
#endif
#include <string.h>

#include "op/index/index_hlo.h"
#include "op/op.h"
#include "op/share.h"

enum { MOST_CLASSES = 1 << 20 };

static const mst_field confusion_matrix_fields[] = {
    MST_FIELD_I64(mst_confusion_matrix_options, num_classes, 0, 1, MOST_CLASSES, "number of classes"),
    MST_FIELD_END,
};

static mst_status confusion_matrix_infer(mst_infer *c) {
    const mst_confusion_matrix_options *o = c->options;
    mst_shape rows;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_want_ndim(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &rows));
    c->dst[0] = (mst_spec){.dtype = MST_I64, .shape = MST_SHAPE(o->num_classes, o->num_classes)};
    return MST_OK;
}

static void confusion_matrix_lower(mst_lower *l) {
    const int64_t classes = ((const mst_confusion_matrix_options *)l->options)->num_classes;
    const int64_t rows = l->src_spec[0].shape.dim[0];
    mst_hlo place[2];
    for (int i = 0; i < 2; i++) {
        const mst_hlo number = mst_hlo_classes(l, l->src[i]);
        mst_hlo_fault(l, mst_hlo_outside(l, number, classes), MST_INVALID, "a %s is not in [0, %lld)",
                      i ? "prediction" : "label", (long long)classes);
        place[i] = mst_hlo_reshape(l, number, MST_SHAPE(rows, 1));
    }
    const mst_hlo zeros = mst_hlo_fill(l, MST_I64, l->dst_spec[0].shape, 0);
    const mst_hlo ones = mst_hlo_fill(l, MST_I64, MST_SHAPE(rows), 1);
    const mst_hlo_indexing indexing = {.collapsed = MST_AXES(0, 1), .map = MST_AXES(0, 1), .vector_axis = 1};
    l->dst[0] = mst_hlo_scatter(l, "add", zeros, mst_hlo_concat(l, 2, place, 1), ones, &indexing);
}

static int64_t class_at(const mst_array *array, int64_t i) {
    switch ((int)array->dtype) {
        case MST_U8: return ((const uint8_t *)array->data)[i];
        case MST_I32: return ((const int32_t *)array->data)[i];
        default: return ((const int64_t *)array->data)[i];
    }
}

/* Whether threads share the rows. Each thread but the first then counts in a separate matrix, so this pays only if
 * there are many more rows than cells to add up. */
static bool is_shared(int64_t rows, int64_t cells) {
    return rows >= 4 * cells;
}

static size_t confusion_matrix_workspace(const mst_infer *c, int num_threads) {
    const int64_t cells = mst_shape_count(c->dst[0].shape);
    if (!is_shared(mst_shape_count(c->src[0].shape), cells)) return 0;
    return (size_t)(num_threads - 1) * (size_t)cells * sizeof(int64_t);
}

static int64_t *matrix_of(const mst_kernel_args *a, int thread) {
    return thread == 0 ? a->dst[0].data : (int64_t *)a->workspace + (thread - 1) * a->dst[0].count;
}

/* Counts rows BEGIN to END - 1. */
static mst_status count(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const int64_t classes = ((const mst_confusion_matrix_options *)a->options)->num_classes;
    int64_t *matrix = matrix_of(a, thread);
    for (int64_t i = begin; i < end; i++) {
        int64_t label = class_at(&a->src[0], i), prediction = class_at(&a->src[1], i);
        if (label < 0 || label >= classes)
            return mst_kernel_fail(a, MST_INVALID, "label %lld of row %lld is not in [0, %lld)", (long long)label,
                                   (long long)i, (long long)classes);
        if (prediction < 0 || prediction >= classes)
            return mst_kernel_fail(a, MST_INVALID, "prediction %lld of row %lld is not in [0, %lld)",
                                   (long long)prediction, (long long)i, (long long)classes);
        matrix[label * classes + prediction]++;
    }
    return MST_OK;
}

static mst_status confusion_matrix_reference(const mst_kernel_args *a) {
    const int64_t rows = a->src[0].count, cells = a->dst[0].count;
    void *self = mst_context_of(a);
    int64_t *dst = a->dst[0].data;
    const int matrices = is_shared(rows, cells) ? a->num_threads : 1;
    for (int k = 0; k < matrices; k++) memset(matrix_of(a, k), 0, (size_t)cells * sizeof *dst);
    if (!is_shared(rows, cells)) return count(self, 0, rows, 0);
    MST_TRY(mst_parallel(a, rows, mst_grain(rows, 2), count, self));
    for (int k = 1; k < matrices; k++)
        for (int64_t i = 0; i < cells; i++) dst[i] += matrix_of(a, k)[i];
    return MST_OK;
}

static const mst_example confusion_matrix_examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {5}, .value = (const double[]){0, 1, 2, 1, 1}},
             {.ndim = 1, .dim = {5}, .value = (const double[]){0, 2, 2, 1, 2}}},
     .options = &(const mst_confusion_matrix_options){.num_classes = 3},
     .expect = {(const double[]){1, 0, 0, 0, 1, 2, 0, 0, 1}}},
    {.name = "empty",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {0}}},
     .options = &(const mst_confusion_matrix_options){.num_classes = 2},
     .expect = {(const double[]){0, 0, 0, 0}}},
    {.name = "label out of range",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {1}, .value = (const double[]){3}},
             {.ndim = 1, .dim = {1}, .value = (const double[]){0}}},
     .options = &(const mst_confusion_matrix_options){.num_classes = 3},
     .fails = MST_INVALID},
    {.name = "lengths differ",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){0, 0}},
             {.ndim = 1, .dim = {1}, .value = (const double[]){0}}},
     .options = &(const mst_confusion_matrix_options){.num_classes = 3},
     .fails = MST_INVALID},
};

const mst_op mst_op_confusion_matrix = {
    .name = "confusion_matrix",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_INDICES | MST_DTYPE_BIT(MST_U8),
    .fields = confusion_matrix_fields,
    .options_size = sizeof(mst_confusion_matrix_options),
    .infer = confusion_matrix_infer,
    .workspace = confusion_matrix_workspace,
    .reference = confusion_matrix_reference,
    .lower = confusion_matrix_lower,
    MST_EXAMPLES(confusion_matrix_examples),
};

mst_value mst_confusion_matrix_with(mst_confusion_matrix_options options) {
    return mst_call(NULL, &mst_op_confusion_matrix, 2, (const mst_value[]){options.labels, options.predictions},
                    &options);
}
