/** Component COMPONENT as DTYPE(value) * DTYPE(FACTOR). Needs no extra pass over the data. To scale pixels to [0, 1]:
 *
 *      mst_dataset_scale(ds, 0, MST_F32, 1.0 / 255, &out)
 *
 *  DTYPE may be f32 or f64. For a component of integers or bool, it may also be an integer dtype or bool (value != 0),
 *  with FACTOR 1. Fails with MST_INVALID otherwise. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_scale(mst_dataset *dataset, int component, mst_dtype dtype, double factor,
                                                 mst_dataset **out);
#endif
#include "data/dataset.h"

#include <stdio.h>

#include "base/argument.h"
#include "base/number.h"
#include "data/nested.h"

typedef struct scale {
    mst_dataset base;
    mst_row_stage stage;
} scale;

static void scale_settings(const mst_dataset *dataset, char *text, size_t size) {
    const mst_row_stage *stage = dataset->stage;
    char factor[MST_NUMBER_TEXT];
    snprintf(text, size, "component %d by %s", stage->component, mst_number_print_f64(stage->factor, factor));
}

static const mst_dataset_type type = {.name = "scale", .settings = scale_settings};

mst_status mst_dataset_scale(mst_dataset *dataset, int component, mst_dtype dtype, double factor, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    scale *d;
    *out = NULL;
    MST_TRY(mst_dataset_check(dataset));
    if (component < 0 || component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "scale: component %d, the dataset has 0 to %d", component,
                        dataset->num_components - 1);
    if (dtype <= MST_NO_DTYPE || dtype >= MST_NUM_DTYPES)
        return MST_FAIL(MST_INVALID, "scale: %d is no dtype: use MST_F32, MST_F64, ...", (int)dtype);
    if (dtype == MST_STRING)
        return MST_FAIL(MST_INVALID, "scale: component %d cannot become string: use map", component);
    mst_dtype from = dataset->row[component].dtype;
    if (from == MST_STRING)
        return MST_FAIL(MST_INVALID, "scale: component %d is string: make numbers of it with map", component);
    mst_convert convert = mst_convert_find(from, dtype);
    if (!convert)
        return MST_FAIL(MST_INVALID, "scale: component %d is %s, rounding it to %s is not done here: use map",
                        component, mst_dtype_name(from), mst_dtype_name(dtype));
    if (!mst_dtype_is_float(dtype) && (factor < 1 || factor > 1))
        return MST_FAIL(MST_INVALID, "scale: factor is %g, for dtype %s it must be 1", factor, mst_dtype_name(dtype));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->stage = (mst_row_stage){.component = component, .convert = convert, .factor = factor};
    d->base.stage = &d->stage;
    d->base.row[component].dtype = dtype;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_scale(mst_dataset *dataset, int component, mst_dtype dtype, double factor) {
    MST_DATASET_NEST(dataset, mst_dataset_scale(dataset, component, dtype, factor, &out));
}
