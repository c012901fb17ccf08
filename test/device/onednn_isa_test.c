/* The instruction set that oneDNN will use is known before its first use, and a set that was chosen before then is
 * the one that it uses. Each case is a process of its own, since oneDNN chooses once per process. */
#include "device/onednn_isa.h"

#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static const char *const names[] = {NULL,
                                    "sse41",
                                    "AVX",
                                    "AVX2",
                                    "AVX2_VNNI",
                                    "AVX2_VNNI_2",
                                    "AVX512_CORE",
                                    "ALL",
                                    "DEFAULT",
                                    "AVX512_CORE_VNNI",
                                    "AVX512_CORE_BF16",
                                    "AVX512_CORE_FP16",
                                    "no such set",
                                    "AVX512_CORE_AMX",
                                    "AVX512_CORE_AMX_FP16",
                                    "AVX10_1_512",
                                    "AVX10_1_512_AMX",
                                    ""};
enum { NAMES = sizeof names / sizeof *names };

/* Whether IS_RIGHT in a process in which DNNL_MAX_CPU_ISA is NAME. */
static void expect_in_process(const char *name, bool (*is_right)(void)) {
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        unsetenv("ONEDNN_MAX_CPU_ISA");
        if (name)
            setenv("DNNL_MAX_CPU_ISA", name, 1);
        else
            unsetenv("DNNL_MAX_CPU_ISA");
        _exit(!is_right());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status) fail_msg("wrong where DNNL_MAX_CPU_ISA is %s", name ? name : "not set");
}

static bool is_what_onednn_uses(void) {
    const uint64_t isa = mst_onednn_isa();
    return isa == (uint64_t)dnnl_get_effective_cpu_isa();
}

static void it_is_known_before_onednn_is_asked(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) expect_in_process(names[i], is_what_onednn_uses);
}

static bool is_limited(void) {
    char text[40];
    const bool is = mst_onednn_limit_isa(dnnl_cpu_isa_sse41) && mst_onednn_isa() == dnnl_cpu_isa_sse41 &&
                    dnnl_get_effective_cpu_isa() == dnnl_cpu_isa_sse41;
    return is && mst_onednn_limit_isa(dnnl_cpu_isa_sse41) && !mst_onednn_limit_isa(dnnl_cpu_isa_avx) &&
           strcmp(mst_onednn_isa_name(dnnl_cpu_isa_sse41, text, sizeof text), "SSE41") == 0;
}

static bool is_fixed(void) {
    const uint64_t isa = (uint64_t)dnnl_get_effective_cpu_isa();
    return !mst_onednn_limit_isa(dnnl_cpu_isa_sse41) && mst_onednn_isa() == isa && mst_onednn_limit_isa(isa);
}

static void it_is_limited_once_and_before_it_is_used(void **state) {
    (void)state;
    if (mst_onednn_isa() < dnnl_cpu_isa_avx) skip();
    expect_in_process(NULL, is_limited);
    expect_in_process("AVX", is_limited);
    expect_in_process(NULL, is_fixed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_known_before_onednn_is_asked),
        cmocka_unit_test(it_is_limited_once_and_before_it_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
