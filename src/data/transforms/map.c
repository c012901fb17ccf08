/** Applies FUNCTION to each row. The result has NUM_OUTPUTS components with the dtypes and row shapes of OUTPUTS.
 *  CONTEXT must outlive the dataset and its iterators. Batches are mapped row by row. FUNCTION runs inside
 *  mst_batch_copy. If several components of a batch are wanted, use mst_batch_copy_all: it calls FUNCTION once per row,
 *  not once per component. A prefetch after the map also calls it once per row, and on several threads if it takes
 *  long; the order of rows stays the same.
 *
 *  FUNCTION makes a row from a row: it reads IN[0], ..., one array per component, and writes all elements of OUT[0],
 *  ..., one per output. It is called from any thread, from several at once, and each time a row is copied.
 *
 *  Elements of strings are mst_string, empty if FUNCTION does not write them. What they refer to must last until the
 *  row has been copied: bytes of IN, of a constant, or from mst_map_alloc. Before mst_dataset_batch and
 *  mst_dataset_padded_batch, dimensions of an output may be -1, which means that FUNCTION determines them. Then the
 *  data of OUT is NULL, and FUNCTION sets data (which must last as strings must), count and shape.
 */
#ifdef MST_DATASET_HEADER
typedef mst_status (*mst_map_function)(const mst_array *in, mst_array *out, void *context);
/** For map functions: SIZE zero bytes, aligned to 16, for results whose length the function determines. They last until
 *  the row has been copied. NULL, with an error, if there is no memory, or if called outside of a map function. */
MST_API void *mst_map_alloc(size_t size);
MST_API MST_CHECKED mst_status mst_dataset_map(mst_dataset *dataset, mst_map_function function, void *context,
                                               const mst_spec *outputs, int num_outputs, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/dataset.h"
#include "data/nested.h"

typedef struct map {
    mst_dataset base;
    mst_row_stage stage;
} map;

static const mst_dataset_type type = {.name = "map"};

static mst_status map_check(const mst_dataset *dataset, const mst_spec *outputs, int num_outputs) {
    char text[MST_SHAPE_TEXT];
    if (num_outputs < 1) return MST_FAIL(MST_INVALID, "map: %d outputs, at least 1 is needed", num_outputs);
    for (int i = 0; i < num_outputs; i++) {
        mst_shape shape = outputs[i].shape;
        bool batched = dataset->batch_size > 0;
        if (outputs[i].dtype <= MST_NO_DTYPE || outputs[i].dtype >= MST_NUM_DTYPES)
            return MST_FAIL(MST_INVALID, "map: output %d has no dtype: use MST_F32, MST_I64, ...", i);
        if (shape.ndim < 0 || shape.ndim + batched > MST_MAX_NDIM)
            return MST_FAIL(MST_INVALID, "map: output %d has %d dimensions, at most %d are possible", i, shape.ndim,
                            MST_MAX_NDIM - batched);
        int64_t bytes = (int64_t)mst_dtype_size(outputs[i].dtype);
        bool bad = false;
        for (int j = 0; j < shape.ndim; j++)
            bad |= shape.dim[j] < (batched ? 0 : -1) ||
                   (shape.dim[j] > 0 && __builtin_mul_overflow(bytes, shape.dim[j], &bytes));
        if (bad)
            return MST_FAIL(MST_INVALID, "map: output %d has shape %s: each dimension must be%s of a possible size", i,
                            mst_shape_print(shape, text, sizeof text),
                            batched ? " known (its length can be found before batch only) and" : "");
    }
    return MST_OK;
}

mst_status mst_dataset_map(mst_dataset *dataset, mst_map_function function, void *context, const mst_spec *outputs,
                           int num_outputs, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(function) || (num_outputs > 0 && MST_IS_NULL(outputs)) || MST_IS_NULL(out))
        return MST_INVALID;
    map *d;
    *out = NULL;
    MST_TRY(map_check(dataset, outputs, num_outputs));
    MST_TRY(mst_dataset_derive_rows(&type, sizeof *d, dataset, outputs, num_outputs, &d));
    d->stage = (mst_row_stage){.map = function, .context = context};
    d->base.stage = &d->stage;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_map(mst_dataset *dataset, mst_map_function function, void *context, const mst_spec *outputs,
                          int num_outputs) {
    MST_DATASET_NEST(dataset, mst_dataset_map(dataset, function, context, outputs, num_outputs, &out));
}
