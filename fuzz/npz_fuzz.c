/* clang -fsanitize=fuzzer,address,undefined: NumPy archives, with all their arrays. */
#include "format/npz.h"
#include "memory.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_npz *npz;
    if (mst_npz_parse("input", data, size, &npz)) {
        if (npz) __builtin_trap();
        return;
    }
    for (int64_t i = 0; i < mst_npz_num_arrays(npz); i++) {
        mst_tensor *tensor;
        mst_status status = mst_npz_read(npz, mst_npz_name(npz, i), &tensor);
        if ((status == MST_OK) != (tensor != NULL)) __builtin_trap();
        mst_tensor_release(tensor);
    }
    mst_npz_close(npz);
}

FUZZ(read_input, FUZZ_INFLATED, 1 << 20)
