#include <string.h>

#include "format/npy.h"
#include "inspect/inspector.h"

static mst_inspect_match inspect_npy_knows(const mst_inspect_source *s) {
    return s->size >= 6 && memcmp(s->head, "\x93NUMPY", 6) == 0 ? MST_INSPECT_SURE : MST_INSPECT_NO;
}

static mst_status inspect_npy_print(const mst_inspect_source *source, mst_report *report) {
    mst_tensor *tensor;
    const mst_status status = mst_npy_read(source->path, &tensor);
    mst_report_title(report, "NPY", "one array");
    MST_TRY(status);
    mst_report_tensor(report, "elements", tensor, "");
    mst_tensor_release(tensor);
    return MST_OK;
}

const mst_inspector mst_inspector_npy = {
    .name = "NPY", .suffixes = ".npy", .knows = inspect_npy_knows, .print = inspect_npy_print};
