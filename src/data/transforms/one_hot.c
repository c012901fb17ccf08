/** Component COMPONENT, whole numbers from 0 to CLASSES - 1, such as labels that are class numbers, becomes f32 with
 *  one more dimension at its end, of CLASSES elements: 1 at the place of the number, and 0 elsewhere. As
 *  keras.ops.one_hot, but a number that is none of these is an error: copying its row fails with MST_INVALID. Must come
 *  before mst_dataset_batch. Fails with MST_INVALID if COMPONENT is not of whole numbers, has a length that is not
 *  known, or as many dimensions as are possible, and for CLASSES below 1. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_one_hot(mst_dataset *dataset, int component, int64_t classes,
                                                   mst_dataset **out);
#endif
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "data/dataset.h"
#include "data/nested.h"

typedef struct one_hot {
    mst_dataset base;
    mst_row_stage stage;
    int64_t classes;
} one_hot;

static int64_t number_at(const mst_array *in, int64_t i) {
    switch ((int)in->dtype) {
        case MST_BOOL:
        case MST_U8: return ((const uint8_t *)in->data)[i];
        case MST_I32: return ((const int32_t *)in->data)[i];
        default: return ((const int64_t *)in->data)[i];
    }
}

static mst_status one_hot_make(const mst_dataset *dataset, const mst_array *in, mst_array *out) {
    const int64_t classes = ((const one_hot *)dataset)->classes;
    float *dst = out->data;
    memset(dst, 0, (size_t)out->count * sizeof *dst);
    for (int64_t i = 0; i < in->count; i++) {
        const int64_t number = number_at(in, i);
        if (number < 0 || number >= classes)
            return MST_FAIL(MST_INVALID, "one_hot: the number %lld, 0 to %lld are possible", (long long)number,
                            (long long)classes - 1);
        dst[i * classes + number] = 1;
    }
    return MST_OK;
}

static void one_hot_settings(const mst_dataset *dataset, char *text, size_t size) {
    snprintf(text, size, "component %d, %lld classes", dataset->stage->component,
             (long long)((const one_hot *)dataset)->classes);
}

static const mst_dataset_type type = {.name = "one_hot", .settings = one_hot_settings};

static mst_status one_hot_check(const mst_dataset *dataset, int component, int64_t classes) {
    MST_TRY(mst_dataset_want_rows(dataset, type.name));
    MST_TRY(mst_dataset_want_least(type.name, "classes", classes, 1));
    if (classes > INT32_MAX)
        return MST_FAIL(MST_INVALID, "%s: %lld classes are too many", type.name, (long long)classes);
    if (component < 0 || component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "%s: component %d, the dataset has 0 to %d", type.name, component,
                        dataset->num_components - 1);
    MST_TRY(mst_dataset_want_values(dataset, component, type.name));
    const mst_spec row = dataset->row[component];
    const bool is_whole = row.dtype == MST_BOOL || row.dtype == MST_U8 || row.dtype == MST_I32 || row.dtype == MST_I64;
    int64_t bytes;
    if (!is_whole)
        return MST_FAIL(MST_INVALID, "%s: component %d is %s, whole numbers are due", type.name, component,
                        mst_dtype_name(row.dtype));
    if (row.shape.ndim >= MST_MAX_NDIM - 1 ||
        __builtin_mul_overflow(classes * (int64_t)sizeof(float), mst_shape_count(row.shape), &bytes))
        return MST_FAIL(MST_INVALID, "%s: component %d has no room for %lld classes", type.name, component,
                        (long long)classes);
    return MST_OK;
}

mst_status mst_dataset_one_hot(mst_dataset *dataset, int component, int64_t classes, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    one_hot *d;
    *out = NULL;
    MST_TRY(one_hot_check(dataset, component, classes));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->classes = classes;
    d->stage = (mst_row_stage){.component = component, .make = one_hot_make};
    d->base.stage = &d->stage;
    mst_spec *row = &d->base.row[component];
    row->dtype = MST_F32;
    row->shape.dim[row->shape.ndim++] = classes;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_one_hot(mst_dataset *dataset, int component, int64_t classes) {
    MST_DATASET_NEST(dataset, mst_dataset_one_hot(dataset, component, classes, &out));
}
