/* clang -fsanitize=fuzzer,address,undefined: pickles of NumPy's arrays of lists. */
#include "format/pickle.h"
#include "memory.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_integer_lists lists;
    const mst_status status = mst_pickle_read("input", data, size, &lists);
    int64_t sum = 0;
    for (int64_t i = 0, at = 0; i < lists.num_lists; i++)
        for (; at < lists.end[i]; at++) sum ^= lists.integer[at];
    if (status && (lists.integer || lists.end || sum)) __builtin_trap();
    mst_integer_lists_free(&lists);
}

/* A sequence of one item takes 16 times 16 bytes, for an instruction of one byte. */
FUZZ(read_input, 400, 1 << 16)
