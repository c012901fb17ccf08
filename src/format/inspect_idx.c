#include "format/idx.h"
#include "format/inspect.h"

static bool knows(const uint8_t *head, size_t size) {
    return size >= 8 && head[0] == 0 && head[1] == 0 && head[2] >= 0x08 && head[2] <= 0x0e && head[3] >= 1 &&
           head[3] <= MST_MAX_NDIM;
}

static mst_status print(const char *path, FILE *out) {
    mst_tensor *tensor;
    MST_TRY(mst_idx_read(path, &tensor));
    fprintf(out, "%s: IDX\n", path);
    mst_inspect_tensor("elements", tensor, out);
    mst_tensor_release(tensor);
    return MST_OK;
}

const mst_inspector mst_inspector_idx = {.knows = knows, .print = print};
