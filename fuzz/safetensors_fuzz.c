/* clang -fsanitize=fuzzer,address,undefined: safetensors, with all their tensors. */
#include "format/safetensors.h"
#include "memory.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_safetensors *file;
    if (mst_safetensors_parse("input", data, size, &file)) {
        if (file) __builtin_trap();
        return;
    }
    for (int64_t i = 0; i < mst_safetensors_count(file); i++) {
        mst_tensor *tensor;
        const mst_status status = mst_safetensors_read(file, i, &tensor);
        if ((status == MST_OK) != (tensor != NULL)) __builtin_trap();
        mst_tensor_release(tensor);
    }
    mst_safetensors_close(file);
}

FUZZ(read_input, 64, 64 << 10)
