/** For loops over rows of channels, in functions marked MST_SIMD: blocks with a constant number of channels, and ways
 *  to avoid stalls of the processor. The results have the bits of plain loops. */
#ifndef MUSTER_OP_CHANNEL_BLOCKS_H
#define MUSTER_OP_CHANNEL_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** X, or 0 if DROP is 1, computed on the bits. For `drop ? 0 : x[i]` compilers emit a masked load of x[i], which must
 *  wait for the comparison and for the load before it. */
static inline float mst_drop_f32(float x, int drop) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= drop - 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline double mst_drop_f64(double x, int drop) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= (int64_t)drop - 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/** Prefetches BYTES bytes that lie 4 KB after ROW; the address may be invalid. The processor's own prefetching stops at
 *  the end of a page. With two arrays read from memory at once, it alone uses only half of the memory bandwidth. */
static inline void mst_ask_ahead(const void *row, size_t bytes) {
    enum { AHEAD = 4096, LINE = 64 };
    for (size_t i = 0; i < bytes; i += LINE) __builtin_prefetch((const char *)row + AHEAD + i);
}

enum { MST_LANES = 32 };
/** Divides N channels into blocks, and evaluates CALL once for each block: LANES channels from channel FIRST on. LANES
 *  is a compile-time constant except for the last few channels. So CALL, a loop over rows that is a MST_BLOCK_LOOP,
 *  keeps the sums of its channels in registers. */
#define MST_IN_BLOCKS(n, first, lanes, call)                                               \
    do {                                                                                   \
        const int64_t mst_end = (n);                                                       \
        int64_t first = 0;                                                                 \
        while (mst_end - first >= MST_LANES) MST_BLOCK(first, lanes, MST_LANES, call)      \
        if (mst_end - first >= MST_LANES / 2) MST_BLOCK(first, lanes, MST_LANES / 2, call) \
        if (mst_end - first >= MST_LANES / 4) MST_BLOCK(first, lanes, MST_LANES / 4, call) \
        if (mst_end - first > 0) MST_BLOCK(first, lanes, mst_end - first, call)            \
    } while (0)
#define MST_BLOCK(first, lanes, count, call) \
    {                                        \
        const int64_t lanes = (count);       \
        call;                                \
        first += lanes;                      \
    }
#ifdef __GNUC__
#define MST_BLOCK_LOOP static inline __attribute__((always_inline)) void
#else
#define MST_BLOCK_LOOP static inline void
#endif

#endif
