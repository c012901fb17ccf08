/* clang -fsanitize=fuzzer,address,undefined: IDX files, plain and gzip. */
#include "format/idx.h"
#include "memory.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_tensor *tensor;
    mst_status status = mst_idx_parse("input", data, size, &tensor);
    if ((status == MST_OK) != (tensor != NULL)) __builtin_trap();
    mst_tensor_release(tensor);
}

FUZZ(read_input, FUZZ_INFLATED, 1 << 20)
