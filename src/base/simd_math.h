/** Functions of <math.h> on f32 that the compiler can call for a whole vector.
 *
 *  glibc has vector versions of expf and similar functions in libmvec (part of libm: the linker finds it by itself).
 *  Their error is at most 4 units in the last place. Infinities, NaN and denormal numbers are handled like in the plain
 *  functions. <math.h> declares them only under -ffast-math, which would make results depend on the compiler. So they
 *  are declared again here. In a function marked MST_SIMD a loop of them is vectorised. Compared with the plain
 *  functions this gives 8 to 35 times as many elements per second on AVX-512. On AVX2 it is 5 to 20 times as many (AMD
 *  EPYC, family 26). For other compilers, libraries and processors nothing is declared, and the loops call the plain
 *  functions.
 *
 *  A vector function may differ from the plain one in the last bits. If this matters, all elements must go through the
 *  same function in whole blocks. That includes those at the end of a loop: mst_block_of fills up the last block.
 *
 *  Two alternatives were rejected. oneDNN's eltwise primitives have no cos, tan, erfc, log1p and others, and need a
 *  state for each node. They do not help softmax and random numbers either. SLEEF is one more library for the same
 *  speed.
 *
 *  f64 uses the plain functions, because tests compare gradients with finite differences in f64, which need all
 *  digits. */
#ifndef MUSTER_BASE_SIMD_MATH_H
#define MUSTER_BASE_SIMD_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/simd.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define MST_VECTOR_FUNCTION(name) __attribute__((simd("notinbranch"))) float name(float);
MST_VECTOR_FUNCTION(acosf)
MST_VECTOR_FUNCTION(asinf)
MST_VECTOR_FUNCTION(atanf)
MST_VECTOR_FUNCTION(cosf)
MST_VECTOR_FUNCTION(coshf)
MST_VECTOR_FUNCTION(erff)
MST_VECTOR_FUNCTION(erfcf)
MST_VECTOR_FUNCTION(expf)
MST_VECTOR_FUNCTION(expm1f)
MST_VECTOR_FUNCTION(logf)
MST_VECTOR_FUNCTION(log1pf)
MST_VECTOR_FUNCTION(sinf)
MST_VECTOR_FUNCTION(sinhf)
MST_VECTOR_FUNCTION(tanf)
MST_VECTOR_FUNCTION(tanhf)
__attribute__((simd("notinbranch"))) float atan2f(float, float);
__attribute__((simd("notinbranch"))) float powf(float, float);
#undef MST_VECTOR_FUNCTION
#endif
#endif

enum { MST_BLOCK = 32 /* gcc unrolls loops of 16, and does not vectorise them */ };

/** Elements AT to AT + MST_BLOCK - 1 of SRC, which has COUNT. If SRC ends before that, the elements are copied to
 *  BLOCK, and the last one is repeated. If VARIES is false, SRC has one element, which is repeated. */
static inline const float *mst_block_of(const float *src, bool varies, int64_t at, int64_t count, float *block) {
    if (varies && count - at >= MST_BLOCK) return src + at;
    for (int64_t j = 0; j < MST_BLOCK; j++) block[j] = src[!varies ? 0 : at + j < count ? at + j : count - 1];
    return block;
}

#endif
