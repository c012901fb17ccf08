#include "bench/bare_memory.h"

#include "base/simd.h"
#include "bench/table.h"

float *bare_memory_take(bare_memory *memory, int which, size_t size) {
    mst_tensor **tensor = &memory->tensor[which];
    const int64_t count = (int64_t)(size / sizeof(float)) + 1;
    if (*tensor && mst_tensor_count(*tensor) >= count) return mst_tensor_data(*tensor);
    mst_tensor_release(*tensor);
    *tensor = NULL;
    if (mst_tensor_create(MST_F32, MST_SHAPE(count), tensor)) return NULL;
    float *data = mst_tensor_data(*tensor);
    for (int64_t i = 0; i < count; i++) data[i] = 0.5F + (float)(i % 7) / 16;
    return data;
}

MST_SIMD static void triad(float *restrict a, const float *restrict b, const float *restrict c, int64_t count) {
    for (int64_t i = 0; i < count; i++) a[i] = b[i] + 2 * c[i];
}

double bare_memory_speed(bare_memory *memory) {
    enum { ARRAYS = 3, TIMES = 6 };
    const size_t size = memory->span / ARRAYS;
    const int64_t count = (int64_t)(size / sizeof(float));
    const float *read = bare_memory_take(memory, BARE_READ, 2 * size);
    float *written = bare_memory_take(memory, BARE_WRITTEN, size);
    double least = -1;
    for (int i = 0; i < TIMES && read && written; i++) {
        const double before = bench_now();
        triad(written, read, read + count, count);
        const double took = bench_now() - before;
        if (i > 0 && (least < 0 || took < least)) least = took;
    }
    return least > 0 ? (double)(count * ARRAYS) * sizeof(float) / least : -1;
}

void bare_memory_free(bare_memory *memory) {
    for (int i = 0; i < BARE_MEMORIES; i++) mst_tensor_release(memory->tensor[i]);
    *memory = (bare_memory){.span = memory->span};
}
