/** Functions of <math.h> on f32 that the compiler can call for a whole vector.
 *
 *  glibc has vector versions of expf and its kin in libmvec (part of libm: the linker finds it by itself), good to 4
 *  units in the last place, with infinities, NaN and numbers below the normal ones as the plain functions have them.
 *  <math.h> shows them to the compiler under -ffast-math only, which the law of one answer rules out; so they are
 *  declared again here. In a function marked MST_SIMD a loop of them becomes vector instructions: 8 to 35 times as many
 *  elements a second on AVX-512 as the plain functions give, 5 to 20 times on AVX2 (AMD EPYC, family 26). For other
 *  compilers, libraries and processors nothing is declared, and the loops call the plain functions.
 *
 *  A vector function may differ from the plain one in the last bits. If that would show, as in the rest of a loop,
 *  all elements must go through the same one, in whole blocks: mst_block_of fills the last.
 *
 *  Weighed against oneDNN's eltwise primitives (no cos, tan, erfc, log1p, ...; state to prepare for each node; and no
 *  help to softmax and random numbers) and SLEEF (one more library for the same speed). f64 stays with the plain
 *  functions: finite differences need all its digits. */
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

enum { MST_BLOCK = 32 /* gcc unrolls loops of 16 and leaves them scalar */ };

/** Elements AT to AT + MST_BLOCK of the COUNT of SRC. If SRC ends before, or stays at one element (VARIES is false),
 *  they are put in BLOCK, with the last one repeated. */
static inline const float *mst_block_of(const float *src, bool varies, int64_t at, int64_t count, float *block) {
    if (varies && count - at >= MST_BLOCK) return src + at;
    for (int64_t j = 0; j < MST_BLOCK; j++) block[j] = src[!varies ? 0 : at + j < count ? at + j : count - 1];
    return block;
}

#endif
