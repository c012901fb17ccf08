#include "device/onednn_isa.h"

#include <dnnl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static atomic_bool fixed; /* oneDNN's instruction set cannot change any more */

/* oneDNN is supported from version 2.6 on. Later versions know more instruction sets. */
#define KNOWS_FP16 (DNNL_VERSION_MAJOR >= 3 || DNNL_VERSION_MINOR >= 7)
#define KNOWS_TWO_NAMES (DNNL_VERSION_MAJOR > 3 || (DNNL_VERSION_MAJOR == 3 && DNNL_VERSION_MINOR >= 5))

typedef struct set {
    dnnl_cpu_isa_t isa;
    const char *name;
    const char *other_name; /* name in newer versions, which accept both; NULL: none */
} set;

#if KNOWS_TWO_NAMES
#define OR(name) name
#else
#define OR(name) NULL
#endif

/* From the largest set to the smallest, the order in which oneDNN tries them. */
static const set sets[] = {
#if DNNL_VERSION_MAJOR >= 3
    {dnnl_cpu_isa_avx512_core_amx_fp16, "AVX512_CORE_AMX_FP16", OR("AVX10_1_512_AMX_FP16")},
#endif
    {dnnl_cpu_isa_avx512_core_amx, "AVX512_CORE_AMX", OR("AVX10_1_512_AMX")},
#if KNOWS_FP16
    {dnnl_cpu_isa_avx512_core_fp16, "AVX512_CORE_FP16", OR("AVX10_1_512")},
#endif
    {dnnl_cpu_isa_avx512_core_bf16, "AVX512_CORE_BF16", NULL},
    {dnnl_cpu_isa_avx512_core_vnni, "AVX512_CORE_VNNI", NULL},
    {dnnl_cpu_isa_avx512_core, "AVX512_CORE", NULL},
#if DNNL_VERSION_MAJOR >= 3
    {dnnl_cpu_isa_avx2_vnni_2, "AVX2_VNNI_2", NULL},
#endif
    {dnnl_cpu_isa_avx2_vnni, "AVX2_VNNI", NULL},
    {dnnl_cpu_isa_avx2, "AVX2", NULL},
    {dnnl_cpu_isa_avx, "AVX", NULL},
    {dnnl_cpu_isa_sse41, "SSE41", NULL},
};
enum { SETS = sizeof sets / sizeof *sets };

/* Used if none of the sets is possible: oneDNN then chooses itself. */
#if DNNL_VERSION_MAJOR >= 3
static const set no_set = {dnnl_cpu_isa_default, "DEFAULT", NULL};
#else
static const set no_set = {dnnl_cpu_isa_all, "ALL", NULL};
#endif

/* ---- instructions of the processor ---- */

#if defined(__x86_64__)

/* Whether the system lets programs use the registers of AMX: bits 17 and 18 of the register XCR0. */
static bool has_tile_registers(void) {
    enum { TILES = 3 << 17 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & TILES) == TILES;
}

static bool has_set(dnnl_cpu_isa_t isa) {
    /* Bits in registers of CPUID leaf 7. First line: register d. Second: register a of subleaf 1. Third: d of subleaf
     * 1. */
    enum { FP16 = 1 << 23, AMX_BF16 = 1 << 22, AMX = 3 << 24 };
    enum { VNNI_OF_AVX = 1 << 4, BF16 = 1 << 5, AMX_FP16 = 1 << 21 };
    enum { INT8_AND_CONVERT = 3 << 4 };
    unsigned a = 0, b, c, d, a1 = 0, b1, c1, d1 = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) b = c = d = 0;
    if (a < 1 || !__get_cpuid_count(7, 1, &a1, &b1, &c1, &d1)) a1 = d1 = 0;
    const bool core = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    const bool vnni = core && __builtin_cpu_supports("avx512vnni"), bf16 = vnni && (a1 & BF16);
    const bool vnni_of_avx = __builtin_cpu_supports("avx2") && (a1 & VNNI_OF_AVX);
    const bool fp16 = bf16 && (d & FP16) && (DNNL_VERSION_MAJOR < 3 || vnni_of_avx);
    const bool amx = (KNOWS_FP16 ? fp16 : bf16) && (d & AMX_BF16) && (d & AMX) == AMX && has_tile_registers();
    switch (isa) {
        case dnnl_cpu_isa_sse41: return __builtin_cpu_supports("sse4.1");
        case dnnl_cpu_isa_avx: return __builtin_cpu_supports("avx");
        case dnnl_cpu_isa_avx2: return __builtin_cpu_supports("avx2");
        case dnnl_cpu_isa_avx2_vnni: return vnni_of_avx;
        case dnnl_cpu_isa_avx512_core: return core;
        case dnnl_cpu_isa_avx512_core_vnni: return vnni;
        case dnnl_cpu_isa_avx512_core_bf16: return bf16;
        case dnnl_cpu_isa_avx512_core_amx: return amx;
#if KNOWS_FP16
        case dnnl_cpu_isa_avx512_core_fp16: return fp16;
#endif
#if DNNL_VERSION_MAJOR >= 3
        case dnnl_cpu_isa_avx2_vnni_2: return vnni_of_avx && (d1 & INT8_AND_CONVERT) == INT8_AND_CONVERT;
        case dnnl_cpu_isa_avx512_core_amx_fp16: return amx && (a1 & AMX_FP16);
#endif
        default: return false;
    }
}

#else

static bool has_set(dnnl_cpu_isa_t isa) {
    (void)isa;
    return false;
}

#endif

/* The largest set within BITS that the processor has. */
static dnnl_cpu_isa_t largest_set(uint64_t bits) {
    for (int i = 0; i < SETS; i++)
        if (((uint64_t)sets[i].isa & ~bits) == 0 && has_set(sets[i].isa)) return sets[i].isa;
    return no_set.isa;
}

/* ---- instructions that are allowed ---- */

const char *mst_onednn_isa_name(uint64_t bits, char *text, int size) {
    const set *found = &no_set;
    for (int i = 0; i < SETS; i++)
        if ((uint64_t)sets[i].isa == bits) found = &sets[i];
    snprintf(text, (size_t)size, "%s", found->name);
    return text;
}

/* The instructions that the environment allows. oneDNN reads the same variables in the same way. */
static uint64_t allowed_bits(void) {
    const char *value = getenv("ONEDNN_MAX_CPU_ISA");
    if (!value) value = getenv("DNNL_MAX_CPU_ISA");
    for (int i = 0; value && i < SETS; i++) {
        const char *other = sets[i].other_name ? sets[i].other_name : sets[i].name;
        if (strcasecmp(value, sets[i].name) == 0 || strcasecmp(value, other) == 0) return (uint64_t)sets[i].isa;
    }
    return UINT64_MAX;
}

uint64_t mst_onednn_isa(void) {
    const bool is_fixed = atomic_load(&fixed);
    return is_fixed ? (uint64_t)dnnl_get_effective_cpu_isa() : (uint64_t)largest_set(allowed_bits());
}

void mst_onednn_fix_isa(void) {
    atomic_store(&fixed, true);
}

bool mst_onednn_limit_isa(uint64_t bits) {
    const dnnl_cpu_isa_t most = largest_set(allowed_bits() & bits);
    const bool is_set = dnnl_set_max_cpu_isa(most) == dnnl_success; /* once per process, before any other call */
    atomic_store(&fixed, true);
    return is_set || dnnl_get_effective_cpu_isa() == most;
}
