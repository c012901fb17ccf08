/** Function multi-versioning. Put MST_SIMD before a function that is a plain loop over contiguous memory. The compiler
 *  then vectorises it for AVX-512, AVX2 and the baseline, and one version is chosen when the library is loaded. */
#ifndef MUSTER_BASE_SIMD_H
#define MUSTER_BASE_SIMD_H

/* Not with sanitizers: the functions that choose a version run before the sanitizers are set up. clang 14 has the
 * attribute, but not for static functions. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(MST_NO_MULTIVERSION)
#define MST_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MST_SIMD
#endif

#endif
