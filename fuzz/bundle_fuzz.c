/* clang -fsanitize=fuzzer,address,undefined: checkpoints, with all their tensors: the size of the index, u32, the
 * index, the data. */
#include <stdlib.h>
#include <string.h>

#include "format/bundle.h"
#include "memory.h"

static void read_all(const mst_bundle *bundle) {
    for (int64_t i = 0; i < mst_bundle_count(bundle); i++) {
        mst_tensor *tensor;
        char *text;
        size_t length;
        const mst_status status = mst_bundle_read(bundle, i, &tensor);
        if ((status == MST_OK) != (tensor != NULL)) __builtin_trap();
        mst_tensor_release(tensor);
        if (mst_bundle_read_string(bundle, i, 0, &text, &length) == MST_OK) free(text);
        (void)mst_bundle_object_name(bundle, i);
    }
}

static void read_input(const uint8_t *data, size_t size) {
    mst_bundle *bundle;
    uint32_t index;
    if (size < sizeof index) return;
    memcpy(&index, data, sizeof index);
    data += sizeof index;
    size -= sizeof index;
    if (index > size) index = (uint32_t)size;
    if (mst_bundle_parse("input", data, index, data + index, size - index, &bundle)) {
        if (bundle) __builtin_trap();
        return;
    }
    read_all(bundle);
    mst_bundle_close(bundle);
}

FUZZ(read_input, 64, 256 << 10)
