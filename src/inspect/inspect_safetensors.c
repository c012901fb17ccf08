#include "format/safetensors.h"

#include <string.h>

#include "inspect/inspector.h"

/* A file begins with the size of the header, and the header with '{'. */
static mst_inspect_match inspect_safetensors_knows(const mst_inspect_source *s) {
    uint64_t header = 0;
    if (s->is_packed || s->size < 9 || s->head[8] != '{') return MST_INSPECT_NO;
    for (int i = 7; i >= 0; i--) header = header << 8 | s->head[i];
    return header <= s->bytes - 8 ? MST_INSPECT_SURE : MST_INSPECT_POSSIBLE;
}

static mst_status inspect_safetensors_print(const mst_inspect_source *source, mst_report *report) {
    mst_safetensors *file;
    const mst_status opened = mst_safetensors_open(source->path, &file);
    const int64_t count = opened ? 0 : mst_safetensors_count(file);
    mst_report_title(report, "safetensors", "%lld tensor%s", (long long)count, count == 1 ? "" : "s");
    MST_TRY(opened);
    for (int64_t i = 0; i < count; i++) {
        char shown[MST_REPORT_NAME];
        mst_tensor *tensor;
        const char *name = mst_safetensors_name(file, i);
        const mst_status status = mst_safetensors_read(file, i, &tensor);
        if (!status)
            mst_report_tensor(report, name, tensor, "");
        else if (status == MST_UNIMPLEMENTED) /* Muster has no such dtype, which is not damage */
            mst_report_line(report, "%-24s %s", mst_report_name(name, strlen(name), shown), mst_error()->message);
        else
            mst_report_damage(report, status);
        mst_tensor_release(tensor);
    }
    const char *metadata = mst_safetensors_metadata(file, "muster");
    if (metadata) mst_report_set(report, NULL, "muster", mst_report_string(metadata, strlen(metadata)));
    if (metadata) mst_report_line(report, "saved by Muster, with its model and position");
    mst_safetensors_close(file);
    return MST_OK;
}

const mst_inspector mst_inspector_safetensors = {.name = "safetensors",
                                                 .suffixes = ".safetensors",
                                                 .knows = inspect_safetensors_knows,
                                                 .print = inspect_safetensors_print};
