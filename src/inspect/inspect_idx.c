#include "format/idx.h"
#include "inspect/inspector.h"

static mst_inspect_match inspect_idx_knows(const mst_inspect_source *s) {
    return s->size >= 8 && s->head[0] == 0 && s->head[1] == 0 && s->head[2] >= 0x08 && s->head[2] <= 0x0e &&
                   s->head[3] >= 1 && s->head[3] <= MST_MAX_NDIM
               ? MST_INSPECT_LIKELY
               : MST_INSPECT_NO;
}

static mst_status inspect_idx_print(const mst_inspect_source *source, mst_report *report) {
    mst_tensor *tensor;
    const mst_status status = mst_idx_read(source->path, &tensor);
    mst_report_title(report, "IDX", "%s", source->is_packed ? "gzip" : "plain");
    MST_TRY(status);
    mst_report_tensor(report, "elements", tensor, "");
    mst_tensor_release(tensor);
    return MST_OK;
}

const mst_inspector mst_inspector_idx = {
    .name = "IDX", .suffixes = "-ubyte -ubyte.gz .idx", .knows = inspect_idx_knows, .print = inspect_idx_print};
