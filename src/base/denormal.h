/** A mode in which denormal numbers (magnitudes below 1.2e-38 in f32, 2.3e-308 in f64) are read and written as 0.
 *
 *  An optimizer's moments that only decay become denormal, and arithmetic on denormal numbers is up to a hundred times
 *  slower than on others. Each thread has its own mode; a new thread has the mode of the thread that started it. On an
 *  unknown kind of processor these functions do nothing. */
#ifndef MUSTER_BASE_DENORMAL_H
#define MUSTER_BASE_DENORMAL_H

#include <stdint.h>

#if defined(__SSE2__)

#include <xmmintrin.h>

enum { MST_FLUSH = 0x8000 | 0x0040 }; /* MXCSR: flush results to zero, read sources as zero */

static inline uint64_t mst_float_mode(void) {
    return _mm_getcsr();
}

static inline void mst_float_mode_set(uint64_t mode) {
    _mm_setcsr((unsigned)mode);
}

#elif defined(__aarch64__)

enum { MST_FLUSH = 1 << 24 }; /* FPCR.FZ: flush results to zero, read sources as zero */

static inline uint64_t mst_float_mode(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static inline void mst_float_mode_set(uint64_t mode) {
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

#else

enum { MST_FLUSH = 0 };

static inline uint64_t mst_float_mode(void) {
    return 0;
}

static inline void mst_float_mode_set(uint64_t mode) {
    (void)mode;
}

#endif

/** Begins this mode for the calling thread. To end it, pass the returned value to mst_float_mode_set(). */
static inline uint64_t mst_flush_denormals(void) {
    uint64_t before = mst_float_mode();
    mst_float_mode_set(before | MST_FLUSH);
    return before;
}

#endif
