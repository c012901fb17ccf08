/** Makes all rows of component .component equally long, like Keras' pad_sequences. The component is numbers whose
 *  length along dimension 0 differs from row to row; it becomes [.length, ...]. As by default in Keras, short rows are
 *  padded in front, and long ones lose their beginning.
 *
 *      mst_dataset *rows = mst_data_pad_sequences(words, .length = 300);
 *
 *  Must come before batch. Costs a copy of the row. Fails with MST_INVALID if the component is not a row of numbers, if
 *  its other dimensions are not known, if .length is below 1, or if .value is not one of the dtype. OPTIONS must give a
 *  length. */
#ifdef MST_DATASET_HEADER
typedef struct mst_pad_sequences_options {
    int zero_;
    int component;
    int64_t length;     /**< Keras' maxlen */
    double value;       /**< the value of padding */
    bool pad_back;      /**< pad after the row: Keras' padding="post" */
    bool truncate_back; /**< keep the beginning of a long row: Keras' truncating="post" */
} mst_pad_sequences_options;
MST_API MST_CHECKED mst_status mst_dataset_pad_sequences(mst_dataset *dataset, const mst_pad_sequences_options *options,
                                                         mst_dataset **out);
#endif
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "base/number.h"
#include "data/dataset.h"
#include "data/nested.h"

typedef struct pad_sequences {
    mst_dataset base;
    mst_row_stage stage;
    mst_pad_sequences_options o;
    size_t item; /* bytes of an element along dimension 0 */
    size_t size; /* bytes of a number */
    char value[sizeof(int64_t)];
} pad_sequences;

static const char *const *pad_sequences_classes(const mst_dataset *dataset, int component, int64_t *n) {
    return mst_dataset_classes(dataset->upstream, component, n);
}

static const char *pad_sequences_schema(const mst_dataset *dataset) {
    return mst_dataset_schema(dataset->upstream);
}

static void pad_sequences_settings(const mst_dataset *dataset, char *text, size_t size) {
    const mst_pad_sequences_options *o = &((const pad_sequences *)dataset)->o;
    char value[MST_NUMBER_TEXT];
    snprintf(text, size, "component %d with %s%s%s", o->component, mst_number_print_f64(o->value, value),
             o->pad_back ? ", pad_back" : "", o->truncate_back ? ", truncate_back" : "");
}

static const mst_dataset_type type = {.name = "pad_sequences",
                                      .classes = pad_sequences_classes,
                                      .schema = pad_sequences_schema,
                                      .settings = pad_sequences_settings};

static void fill(const pad_sequences *d, char *dst, size_t bytes) {
    for (size_t at = 0; at < bytes; at += d->size) memcpy(dst + at, d->value, d->size);
}

static void pad_row(const pad_sequences *d, const mst_array *in, char *dst) {
    const int64_t length = d->o.length, all = in->shape.dim[0], n = all < length ? all : length;
    const char *from = (const char *)in->data + (size_t)(d->o.truncate_back ? 0 : all - n) * d->item;
    const size_t kept = (size_t)n * d->item, padded = (size_t)(length - n) * d->item;
    if (kept) memcpy(d->o.pad_back ? dst : dst + padded, from, kept);
    fill(d, d->o.pad_back ? dst + kept : dst, padded);
}

/* Pads the component. Other components of unknown length are passed on without a copy. */
static mst_status map_row(const mst_array *in, mst_array *out, void *context) {
    const pad_sequences *d = context;
    for (int i = 0; i < d->base.num_components; i++) {
        const size_t bytes = (size_t)in[i].count * mst_dtype_size(in[i].dtype);
        if (i == d->o.component) {
            pad_row(d, &in[i], out[i].data);
        } else if (mst_shape_count(d->base.row[i].shape) < 0) {
            out[i].data = in[i].data;
            out[i].count = in[i].count;
            out[i].shape = in[i].shape;
        } else if (bytes) {
            memcpy(out[i].data, in[i].data, bytes);
        }
    }
    return MST_OK;
}

static mst_status pad_sequences_check(const mst_dataset *dataset, const mst_pad_sequences_options *o) {
    char text[MST_SHAPE_TEXT];
    MST_TRY(mst_dataset_want_rows(dataset, "pad_sequences"));
    if (o->component < 0 || o->component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "pad_sequences: component %d, the dataset has 0 to %d", o->component,
                        dataset->num_components - 1);
    const mst_spec row = dataset->row[o->component];
    mst_shape item = row.shape;
    if (item.ndim) item.dim[0] = 1;
    if (row.dtype == MST_STRING || !item.ndim || mst_shape_count(item) < 0)
        return MST_FAIL(MST_INVALID,
                        "pad_sequences: component %d is %s%s, must be numbers along dimension 0, and the other "
                        "dimensions known",
                        o->component, mst_dtype_name(row.dtype), mst_shape_print(row.shape, text, sizeof text));
    return mst_dataset_want_least("pad_sequences", "length", o->length, 1);
}

/* Converts the padding value to the dtype of the component. */
static mst_status take_value(pad_sequences *d, mst_dtype dtype) {
    mst_tensor *value;
    d->size = mst_dtype_size(dtype);
    MST_TRY(mst_tensor_create(dtype, MST_SCALAR, &value));
    mst_tensor_set(value, 0, d->o.value);
    const double taken = mst_tensor_get(value, 0);
    memcpy(d->value, mst_tensor_data(value), d->size);
    mst_tensor_release(value);
    if (mst_dtype_is_float(dtype) || !(taken < d->o.value || taken > d->o.value)) return MST_OK;
    return MST_FAIL(MST_INVALID, "pad_sequences: value is %g, which %s cannot hold", d->o.value, mst_dtype_name(dtype));
}

mst_status mst_dataset_pad_sequences(mst_dataset *dataset, const mst_pad_sequences_options *options,
                                     mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(options) || MST_IS_NULL(out)) return MST_INVALID;
    pad_sequences *d;
    *out = NULL;
    MST_TRY(pad_sequences_check(dataset, options));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    mst_spec *row = &d->base.row[options->component];
    row->shape.dim[0] = 1;
    d->o = *options;
    d->item = (size_t)mst_shape_count(row->shape) * mst_dtype_size(row->dtype);
    row->shape.dim[0] = options->length;
    const mst_status status = take_value(d, row->dtype);
    if (status) {
        mst_dataset_release(&d->base);
        return status;
    }
    d->stage = (mst_row_stage){.map = map_row, .context = d};
    d->base.stage = &d->stage;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_pad_sequences_with(mst_dataset *dataset, const mst_pad_sequences_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_pad_sequences(dataset, options, &out));
}
