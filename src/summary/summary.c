/* The functions of muster/summary.h that put values on the queue of a summary writer. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "graph/graphdef.pb-c.h"
#include "summary/writer.h"

void mst_summary_scalar(mst_summary_writer *writer, const char *tag, double value, int64_t step) {
    if (MST_IS_NULL(writer)) return;
    mst_entry *entry = mst_entry_create(writer, MST_ENTRY_SCALAR, tag, step);
    if (!entry) return;
    entry->scalar = value;
    mst_summary_push(writer, entry, 0);
}

static void push_tensor(mst_summary_writer *writer, mst_entry_kind kind, const char *tag, mst_tensor *tensor,
                        int64_t step) {
    mst_entry *entry = mst_entry_create(writer, kind, tag, step);
    if (!entry) return;
    entry->tensor = mst_tensor_retain(tensor);
    mst_summary_push(writer, entry, mst_tensor_bytes(tensor));
}

void mst_summary_histogram(mst_summary_writer *writer, const char *tag, mst_tensor *values, int64_t step) {
    if (MST_IS_NULL(writer)) return;
    if (MST_IS_NULL(values)) {
        mst_summary_fail(writer, MST_INVALID);
        return;
    }
    push_tensor(writer, MST_ENTRY_HISTOGRAM, tag, values, step);
}

void mst_summary_counts(mst_summary_writer *writer, const char *tag, mst_tensor *counts, int64_t step) {
    push_tensor(writer, MST_ENTRY_COUNTS, tag, counts, step);
}

static mst_status check_image(const char *tag, const mst_tensor *images) {
    char text[MST_SHAPE_TEXT];
    const mst_shape shape = mst_tensor_shape(images);
    const mst_dtype dtype = mst_tensor_dtype(images);
    const int64_t channels = shape.ndim ? shape.dim[shape.ndim - 1] : 0;
    const bool fits = (shape.ndim == 3 || shape.ndim == 4) && channels >= 1 && channels <= 4;
    if (fits && (dtype == MST_U8 || dtype == MST_F32) && mst_shape_count(shape) > 0) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "summary: image '%s' is %s%s, must be u8 or f32 of [height, width, channels] or [n, height, width, "
                    "channels] with 1 to 4 channels",
                    tag ? tag : "", mst_dtype_name(dtype), mst_shape_print(shape, text, sizeof text));
}

void mst_summary_image(mst_summary_writer *writer, const char *tag, mst_tensor *images, int64_t step) {
    if (MST_IS_NULL(writer)) return;
    const mst_status status = MST_IS_NULL(images) ? MST_INVALID : check_image(tag, images);
    if (status)
        mst_summary_fail(writer, status);
    else
        push_tensor(writer, MST_ENTRY_IMAGE, tag, images, step);
}

/* Pushes an entry that owns DATA; frees DATA on failure. */
static void push_data(mst_summary_writer *writer, mst_entry_kind kind, const char *tag, void *data, size_t size,
                      int64_t step) {
    mst_entry *entry = mst_entry_create(writer, kind, tag, step);
    if (!entry) {
        free(data);
        return;
    }
    entry->data = data;
    entry->size = size;
    mst_summary_push(writer, entry, size);
}

void mst_summary_text(mst_summary_writer *writer, const char *tag, const char *text, int64_t step) {
    if (MST_IS_NULL(writer)) return;
    char *copy = MST_IS_NULL(text) ? NULL : strdup(text);
    if (copy)
        push_data(writer, MST_ENTRY_TEXT, tag, copy, strlen(copy), step);
    else
        mst_summary_fail(writer, text ? MST_NO_MEMORY("for a summary") : MST_INVALID);
}

/* TensorBoard does not show tensors of more bytes than this. A graph is written without the contents of such
 * tensors. */
enum { MOST_SHOWN = 1024 };

static void drop_tensors(Muster__NodeDef *node) {
    for (size_t i = 0; i < node->n_attr; i++) {
        Muster__AttrValue *value = node->attr[i]->value;
        if (!value || value->value_case != MUSTER__ATTR_VALUE__VALUE_TENSOR) continue;
        if (value->tensor->tensor_content.len > MOST_SHOWN) value->tensor->tensor_content.len = 0;
    }
}

static mst_status encode_graph(const mst_graph *graph, void **data, size_t *size) {
    MST_TRY(mst_graph_encode(graph, data, size));
    Muster__GraphDef *def = muster__graph_def__unpack(NULL, *size, *data);
    if (!def) {
        free(*data);
        return MST_NO_MEMORY("for a graph");
    }
    for (size_t i = 0; i < def->n_node; i++) drop_tensors(def->node[i]);
    *size = muster__graph_def__pack(def, *data); /* at most as many bytes as before */
    muster__graph_def__free_unpacked(def, NULL);
    return MST_OK;
}

void mst_summary_graph(mst_summary_writer *writer, const mst_graph *graph) {
    void *data;
    size_t size;
    if (MST_IS_NULL(writer)) return;
    const mst_status status = encode_graph(graph, &data, &size);
    if (status)
        mst_summary_fail(writer, status);
    else
        push_data(writer, MST_ENTRY_GRAPH, "graph", data, size, 0);
}

void mst_summary_trace(mst_summary_writer *writer, const char *tag, const mst_trace *trace, int64_t step) {
    void *data;
    size_t size;
    if (MST_IS_NULL(writer)) return;
    const mst_status status = MST_IS_NULL(trace) ? MST_INVALID : mst_run_metadata_encode(trace, &data, &size);
    if (status)
        mst_summary_fail(writer, status);
    else
        push_data(writer, MST_ENTRY_RUN_METADATA, tag, data, size, step);
}
