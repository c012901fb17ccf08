#include "device/onednn_isa.h"

#include <ctype.h>
#include <dnnl.h>
#include <dnnl_debug.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { NAME = 40 };

static atomic_bool fixed; /* what oneDNN uses */

/* From the largest to the smallest, as oneDNN looks for them. */
static const dnnl_cpu_isa_t sets[] = {
#if DNNL_VERSION_MAJOR >= 3
    dnnl_cpu_isa_avx512_core_amx,
    dnnl_cpu_isa_avx512_core_fp16,
    dnnl_cpu_isa_avx512_core_bf16,
    dnnl_cpu_isa_avx512_core_vnni,
    dnnl_cpu_isa_avx512_core,
    dnnl_cpu_isa_avx2_vnni,
#else
    dnnl_cpu_isa_avx512_core_amx,
    dnnl_cpu_isa_avx512_core_bf16,
    dnnl_cpu_isa_avx512_core_vnni,
    dnnl_cpu_isa_avx512_core,
    dnnl_cpu_isa_avx2_vnni,
#endif
    dnnl_cpu_isa_avx2,
    dnnl_cpu_isa_avx,
    dnnl_cpu_isa_sse41,
};
enum { SETS = sizeof sets / sizeof *sets };

/* ---- what the processor has ---- */

#if defined(__x86_64__)

/* Whether the system lets programs use the registers of AMX. */
static bool has_tile_registers(void) {
    enum { TILES = 3 << 17 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & TILES) == TILES;
}

static bool has_set(dnnl_cpu_isa_t set) {
    enum { VNNI_OF_AVX = 1 << 4, BF16 = 1 << 5, FP16 = 1 << 23, AMX_BF16 = 1 << 22, AMX = 3 << 24 };
    unsigned a = 0, b, c, d, a1 = 0, b1, c1, d1;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) b = c = d = 0;
    if (a < 1 || !__get_cpuid_count(7, 1, &a1, &b1, &c1, &d1)) a1 = 0;
    const bool core = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    const bool vnni = core && __builtin_cpu_supports("avx512vnni"), bf16 = vnni && (a1 & BF16);
    switch (set) {
        case dnnl_cpu_isa_sse41: return __builtin_cpu_supports("sse4.1");
        case dnnl_cpu_isa_avx: return __builtin_cpu_supports("avx");
        case dnnl_cpu_isa_avx2: return __builtin_cpu_supports("avx2");
        case dnnl_cpu_isa_avx2_vnni: return __builtin_cpu_supports("avx2") && (a1 & VNNI_OF_AVX);
        case dnnl_cpu_isa_avx512_core: return core;
        case dnnl_cpu_isa_avx512_core_vnni: return vnni;
        case dnnl_cpu_isa_avx512_core_bf16: return bf16;
#if DNNL_VERSION_MAJOR >= 3
        case dnnl_cpu_isa_avx512_core_fp16: return bf16 && (d & FP16);
        case dnnl_cpu_isa_avx512_core_amx:
            return bf16 && (d & FP16) && (d & AMX_BF16) && (d & AMX) == AMX && has_tile_registers();
#else
        case dnnl_cpu_isa_avx512_core_amx: return bf16 && (d & AMX_BF16) && (d & AMX) == AMX && has_tile_registers();
#endif
        default: return false;
    }
}

#else

static bool has_set(dnnl_cpu_isa_t set) {
    (void)set;
    return false;
}

#endif

/* The largest within BITS that the processor has. */
static dnnl_cpu_isa_t largest_set(uint64_t bits) {
    for (int i = 0; i < SETS; i++)
        if (((uint64_t)sets[i] & ~bits) == 0 && has_set(sets[i])) return sets[i];
    return dnnl_cpu_isa_all;
}

/* ---- what is allowed ---- */

const char *mst_onednn_isa_name(uint64_t bits, char *text, int size) {
    static const char prefix[] = "cpu_isa_"; /* "cpu_isa_avx512_core" is what oneDNN calls it */
    const char *name = dnnl_cpu_isa2str((dnnl_cpu_isa_t)bits);
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    snprintf(text, (size_t)size, "%s", name);
    for (char *c = text; *c; c++) *c = (char)toupper((unsigned char)*c);
    return text;
}

/* By the environment, which oneDNN reads in the same way. */
static uint64_t allowed_bits(void) {
    const char *value = getenv("ONEDNN_MAX_CPU_ISA");
    char name[NAME];
    if (!value) value = getenv("DNNL_MAX_CPU_ISA");
    for (int i = 0; value && i < SETS; i++)
        if (strcasecmp(value, mst_onednn_isa_name(sets[i], name, NAME)) == 0) return (uint64_t)sets[i];
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
    const bool is_set = dnnl_set_max_cpu_isa(most) == dnnl_success; /* once for each process, and before all else */
    atomic_store(&fixed, true);
    return is_set || dnnl_get_effective_cpu_isa() == most;
}
