/* Writes the entries of a summary writer's queue as events, by a table with one function for each kind. Scalars and
 * histograms have the form of TensorFlow 1. Other kinds have the form of TensorFlow 2: tensors with the name of
 * TensorBoard's plugin. Every version of TensorBoard can read both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/png_encode.h"
#include "summary/histogram.h"
#include "summary/writer.h"

enum { DT_STRING_NUMBER = 7, DT_FLOAT_NUMBER = 1, SIZE_TEXT = 24 };

static ProtobufCBinaryData bytes_of(const void *data, size_t size) {
    return (ProtobufCBinaryData){.len = size, .data = (uint8_t *)(uintptr_t)data};
}

static Muster__Event event_of(const mst_entry *entry) {
    Muster__Event event = MUSTER__EVENT__INIT;
    event.wall_time = entry->wall_time;
    event.step = entry->step;
    return event;
}

static mst_status append_value(const mst_entry *entry, mst_event_file *file, Muster__Summary__Value *value) {
    Muster__Event event = event_of(entry);
    Muster__Summary summary = MUSTER__SUMMARY__INIT;
    value->tag = (char *)(uintptr_t)entry->tag;
    summary.n_value = 1;
    summary.value = &value;
    event.what_case = MUSTER__EVENT__WHAT_SUMMARY;
    event.summary = &summary;
    return mst_event_file_append(file, &event);
}

/* Appends a tensor for a plugin of TensorBoard. STRINGS has COUNT strings, and the tensor is [COUNT]. COUNT < 0: one
 * string, and the tensor is a scalar. STRINGS NULL: the tensor is an empty list of numbers. */
static mst_status append_tensor(const mst_entry *entry, mst_event_file *file, const char *plugin,
                                ProtobufCBinaryData content, ProtobufCBinaryData *strings, int64_t count) {
    Muster__Summary__Value value = MUSTER__SUMMARY__VALUE__INIT;
    Muster__SummaryTensor tensor = MUSTER__SUMMARY_TENSOR__INIT;
    Muster__TensorShapeProto shape = MUSTER__TENSOR_SHAPE_PROTO__INIT;
    Muster__TensorShapeProto__Dim dim = MUSTER__TENSOR_SHAPE_PROTO__DIM__INIT, *dims = &dim;
    Muster__SummaryMetadata metadata = MUSTER__SUMMARY_METADATA__INIT;
    Muster__SummaryMetadata__PluginData plugin_data = MUSTER__SUMMARY_METADATA__PLUGIN_DATA__INIT;
    plugin_data.plugin_name = (char *)(uintptr_t)plugin;
    plugin_data.content = content;
    metadata.plugin_data = &plugin_data;
    dim.size = count;
    shape.n_dim = count >= 0;
    shape.dim = &dims;
    tensor.dtype = strings ? DT_STRING_NUMBER : DT_FLOAT_NUMBER;
    tensor.tensor_shape = &shape;
    tensor.n_string_val = strings ? (size_t)llabs(count) : 0;
    tensor.string_val = strings;
    value.metadata = &metadata;
    value.value_case = MUSTER__SUMMARY__VALUE__VALUE_TENSOR;
    value.tensor = &tensor;
    return append_value(entry, file, &value);
}

static mst_status write_scalar(const mst_entry *entry, mst_event_file *file) {
    Muster__Summary__Value value = MUSTER__SUMMARY__VALUE__INIT;
    value.value_case = MUSTER__SUMMARY__VALUE__VALUE_SIMPLE_VALUE;
    value.simple_value = (float)entry->scalar;
    return append_value(entry, file, &value);
}

static mst_status write_histogram(const mst_entry *entry, mst_event_file *file) {
    mst_histogram histogram;
    double limit[MST_HISTOGRAM_BUCKETS], count[MST_HISTOGRAM_BUCKETS];
    Muster__Summary__Value value = MUSTER__SUMMARY__VALUE__INIT;
    Muster__HistogramProto proto = MUSTER__HISTOGRAM_PROTO__INIT;
    mst_histogram_count(entry->tensor, &histogram);
    proto.min = histogram.min;
    proto.max = histogram.max;
    proto.num = histogram.num;
    proto.sum = histogram.sum;
    proto.sum_squares = histogram.sum_squares;
    proto.n_bucket_limit = proto.n_bucket = (size_t)mst_histogram_compress(&histogram, limit, count);
    proto.bucket_limit = limit;
    proto.bucket = count;
    value.value_case = MUSTER__SUMMARY__VALUE__VALUE_HISTO;
    value.histo = &proto;
    return append_value(entry, file, &value);
}

/* Writes a histogram of whole numbers. The bucket of number i goes from i - 0.5 to i + 0.5. TensorBoard cuts the first
 * bucket at the smallest number and the last one at the largest. With these limits, no bucket is cut to width 0. */
static mst_status write_counts(const mst_entry *entry, mst_event_file *file) {
    const int64_t *from = mst_tensor_data(entry->tensor), n = mst_tensor_count(entry->tensor);
    double *limit = calloc(2 * (size_t)n, sizeof *limit), *count = limit + n;
    Muster__Summary__Value value = MUSTER__SUMMARY__VALUE__INIT;
    Muster__HistogramProto proto = MUSTER__HISTOGRAM_PROTO__INIT;
    if (!limit) return MST_NO_MEMORY("for a histogram");
    for (int64_t i = 0; i < n; i++) {
        const double number = (double)i;
        if (proto.num == 0 && from[i] == 0) continue; /* below the smallest number */
        if (proto.num == 0) proto.min = number;
        if (from[i] > 0) {
            proto.max = number;
            proto.n_bucket = (size_t)(number - proto.min) + 1;
        }
        limit[i - (int64_t)proto.min] = number + 0.5;
        count[i - (int64_t)proto.min] = (double)from[i];
        proto.num += (double)from[i];
        proto.sum += (double)from[i] * number;
        proto.sum_squares += (double)from[i] * number * number;
    }
    proto.n_bucket_limit = proto.n_bucket;
    proto.bucket_limit = limit;
    proto.bucket = count;
    value.value_case = MUSTER__SUMMARY__VALUE__VALUE_HISTO;
    value.histo = &proto;
    const mst_status status = append_value(entry, file, &value);
    free(limit);
    return status;
}

/* ---- images ---- */

/* Converts f32 from 0 to 1 to u8. Numbers outside are clamped; NaN becomes 0. */
static void to_u8(const float *src, int64_t count, uint8_t *dst) {
    for (int64_t i = 0; i < count; i++) {
        const float scaled = src[i] * 255.0f + 0.5f;
        dst[i] = (uint8_t)(scaled >= 255 ? 255 : scaled > 0 ? scaled : 0);
    }
}

/* Makes a PNG of the image with INDEX. PIXELS: memory for its numbers as u8. */
static mst_status encode_one(const mst_tensor *images, int64_t index, const mst_shape *shape, uint8_t *pixels,
                             ProtobufCBinaryData *out) {
    const int64_t *dim = shape->dim + shape->ndim - 3, count = dim[0] * dim[1] * dim[2];
    void *png;
    const void *source = (const uint8_t *)mst_tensor_data(images) + index * count;
    if (mst_tensor_dtype(images) == MST_F32) {
        to_u8((const float *)mst_tensor_data(images) + index * count, count, pixels);
        source = pixels;
    }
    MST_TRY(mst_png_encode(source, dim[0], dim[1], dim[2], &png, &out->len));
    out->data = png;
    return MST_OK;
}

/* The plugin expects the width and the height as text, and then a PNG for each image. */
static mst_status write_images(const mst_entry *entry, mst_event_file *file) {
    const mst_shape shape = mst_tensor_shape(entry->tensor);
    const int64_t n = shape.ndim == 4 ? shape.dim[0] : 1, *dim = shape.dim + shape.ndim - 3;
    char width[SIZE_TEXT], height[SIZE_TEXT];
    ProtobufCBinaryData *strings = calloc((size_t)n + 2, sizeof *strings);
    uint8_t *pixels = malloc((size_t)(dim[0] * dim[1] * dim[2]));
    mst_status status = strings && pixels ? MST_OK : MST_NO_MEMORY("for an image");
    for (int64_t i = 0; i < n && !status; i++) status = encode_one(entry->tensor, i, &shape, pixels, &strings[2 + i]);
    if (!status) {
        snprintf(width, sizeof width, "%lld", (long long)dim[1]);
        snprintf(height, sizeof height, "%lld", (long long)dim[0]);
        strings[0] = bytes_of(width, strlen(width));
        strings[1] = bytes_of(height, strlen(height));
        status = append_tensor(entry, file, "images", bytes_of(NULL, 0), strings, n + 2);
    }
    for (int64_t i = 0; strings && i < n; i++) free(strings[2 + i].data);
    free(strings);
    free(pixels);
    return status ? mst_error_prefix("summary '%s'", entry->tag) : MST_OK;
}

/* ---- other kinds ---- */

static mst_status write_text(const mst_entry *entry, mst_event_file *file) {
    ProtobufCBinaryData text = bytes_of(entry->data, entry->size);
    return append_tensor(entry, file, "text", bytes_of(NULL, 0), &text, -1);
}

static mst_status write_hparams(const mst_entry *entry, mst_event_file *file) {
    return append_tensor(entry, file, "hparams", bytes_of(entry->data, entry->size), NULL, 0);
}

static mst_status write_graph(const mst_entry *entry, mst_event_file *file) {
    Muster__Event event = event_of(entry);
    event.what_case = MUSTER__EVENT__WHAT_GRAPH_DEF;
    event.graph_def = bytes_of(entry->data, entry->size);
    return mst_event_file_append(file, &event);
}

static mst_status write_run_metadata(const mst_entry *entry, mst_event_file *file) {
    Muster__Event event = event_of(entry);
    Muster__TaggedRunMetadata tagged = MUSTER__TAGGED_RUN_METADATA__INIT;
    tagged.tag = (char *)(uintptr_t)entry->tag;
    tagged.run_metadata = bytes_of(entry->data, entry->size);
    event.what_case = MUSTER__EVENT__WHAT_TAGGED_RUN_METADATA;
    event.tagged_run_metadata = &tagged;
    return mst_event_file_append(file, &event);
}

static mst_status write_start(const mst_entry *entry, mst_event_file *file) {
    Muster__Event event = event_of(entry);
    Muster__SessionLog log = MUSTER__SESSION_LOG__INIT;
    log.status = MUSTER__SESSION_LOG__STATUS__START;
    event.what_case = MUSTER__EVENT__WHAT_SESSION_LOG;
    event.session_log = &log;
    return mst_event_file_append(file, &event);
}

mst_status mst_entry_write(const mst_entry *entry, mst_event_file *file) {
    static mst_status (*const write[])(const mst_entry *, mst_event_file *) = {
        [MST_ENTRY_SCALAR] = write_scalar,
        [MST_ENTRY_HISTOGRAM] = write_histogram,
        [MST_ENTRY_COUNTS] = write_counts,
        [MST_ENTRY_IMAGE] = write_images,
        [MST_ENTRY_TEXT] = write_text,
        [MST_ENTRY_GRAPH] = write_graph,
        [MST_ENTRY_RUN_METADATA] = write_run_metadata,
        [MST_ENTRY_HPARAMS] = write_hparams,
        [MST_ENTRY_START] = write_start};
    return write[entry->kind](entry, file);
}
