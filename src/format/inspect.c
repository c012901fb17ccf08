#include "format/inspect.h"

#include <math.h>

#include "base/argument.h"
#include "format/stream.h"

void mst_inspect_tensor(const char *name, const mst_tensor *tensor, FILE *out) {
    char shape[MST_SHAPE_TEXT];
    const int64_t count = mst_tensor_count(tensor);
    double least = INFINITY, greatest = -INFINITY, sum = 0;
    int64_t bad = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = mst_tensor_get(tensor, i);
        bad += !isfinite(value);
        if (!isfinite(value)) continue;
        least = fmin(least, value);
        greatest = fmax(greatest, value);
        sum += value;
    }
    fprintf(out, "  %-24s %s %s", name, mst_dtype_name(mst_tensor_dtype(tensor)),
            mst_shape_print(mst_tensor_shape(tensor), shape, sizeof shape));
    if (count > bad) fprintf(out, "  %.6g to %.6g, mean %.6g", least, greatest, sum / (double)(count - bad));
    if (bad) fprintf(out, ", %lld are NaN or infinite", (long long)bad);
    fputc('\n', out);
}

/* Damaged gzip data still shows its beginning, and the inspector will say what is wrong. */
static mst_status read_head(const char *path, uint8_t head[MST_INSPECT_HEAD], size_t *size) {
    mst_bytes bytes;
    mst_stream *stream = NULL;
    mst_status status = mst_bytes_open(path, &bytes);
    if (!status) status = mst_bytes_read(&bytes, 0, head, MST_INSPECT_HEAD, size);
    if (!status && *size > 2 && head[0] == 0x1f && head[1] == 0x8b && !mst_inspector_tfrecord.knows(head, *size)) {
        status = mst_stream_create(&bytes, 0, bytes.size, MST_STREAM_GZIP, &stream);
        if (!status) (void)!mst_stream_read(stream, head, MST_INSPECT_HEAD, size);
        mst_stream_destroy(stream);
    }
    mst_bytes_close(&bytes);
    return status;
}

mst_status mst_inspect(const char *path, FILE *out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    uint8_t head[MST_INSPECT_HEAD];
    size_t size;
    MST_TRY(read_head(path, head, &size));
    if (size == 0) return MST_FAIL(MST_INVALID, "'%s': is empty", path);
    for (const mst_inspector *const *inspector = mst_inspector_table; *inspector; inspector++)
        if ((*inspector)->knows(head, size)) return (*inspector)->print(path, out);
    return MST_FAIL(MST_INVALID, "'%s': is of no format that is known here, or its beginning is damaged", path);
}
