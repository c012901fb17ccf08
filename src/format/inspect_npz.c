#include <string.h>

#include "base/failure.h"
#include "format/inspect.h"
#include "format/npz.h"

static bool knows(const uint8_t *head, size_t size) {
    return size >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

/* Every array, also behind one that is damaged. */
static mst_status print(const char *path, FILE *out) {
    mst_npz *npz;
    mst_failure first = {0};
    MST_TRY(mst_npz_open(path, &npz));
    const int64_t count = mst_npz_num_arrays(npz);
    fprintf(out, "%s: NPZ, %lld array%s\n", path, (long long)count, count == 1 ? "" : "s");
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *tensor;
        const char *name = mst_npz_name(npz, i);
        const mst_status status = mst_npz_read(npz, name, &tensor);
        if (status && !first.code) mst_failure_keep(&first, status);
        if (status)
            fprintf(out, "  %-24s %s\n", name, mst_error()->message);
        else
            mst_inspect_tensor(name, tensor, out);
        mst_tensor_release(tensor);
    }
    mst_npz_close(npz);
    return mst_failure_restore(&first);
}

const mst_inspector mst_inspector_npz = {.knows = knows, .print = print};
