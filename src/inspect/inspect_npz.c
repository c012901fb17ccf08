#include <string.h>

#include "format/npz.h"
#include "inspect/inspector.h"

static mst_inspect_match inspect_npz_knows(const mst_inspect_source *s) {
    return s->size >= 4 && (memcmp(s->head, "PK\3\4", 4) == 0 || memcmp(s->head, "PK\5\6", 4) == 0) ? MST_INSPECT_SURE
                                                                                                    : MST_INSPECT_NO;
}

/* Every array, also behind one that is damaged. */
static mst_status inspect_npz_print(const mst_inspect_source *source, mst_report *report) {
    mst_npz *npz;
    const mst_status opened = mst_npz_open(source->path, &npz);
    const int64_t count = opened ? 0 : mst_npz_num_arrays(npz);
    mst_report_title(report, "NPZ", "%lld array%s", (long long)count, count == 1 ? "" : "s");
    MST_TRY(opened);
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *tensor;
        const char *name = mst_npz_name(npz, i);
        const mst_status status = mst_npz_read(npz, name, &tensor);
        if (status)
            mst_report_damage(report, status);
        else
            mst_report_tensor(report, name, tensor, "");
        mst_tensor_release(tensor);
    }
    mst_npz_close(npz);
    return MST_OK;
}

const mst_inspector mst_inspector_npz = {
    .name = "NPZ", .suffixes = ".npz", .knows = inspect_npz_knows, .print = inspect_npz_print};
