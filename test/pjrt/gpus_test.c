/* GPUs as their users know them, in C: limits of memory, logical devices, what a GPU cannot do, and GPUs that are not
 * there. The plugin for CPUs stands in for two GPUs of 140.6 GB (the plugin `shim`, shim.c). Skipped where there is no
 * plugin for CPUs. */
#include <stdio.h>
#include <stdlib.h>

#include "muster/compile_cache.h"
#include "muster/muster.h"
#include "pjrt/bare_job.h"
#include "support/folder.h"
#include "support/test.h"

static const int64_t MB = 1 << 20;
enum { MOST_LOG = 8192 };

/* The whole of FILE, from its beginning. */
static void read_all(FILE *file, char text[MOST_LOG]) {
    rewind(file);
    text[fread(text, 1, MOST_LOG - 1, file)] = '\0';
    fclose(file);
}

/* LOG has the line "NODE: (OP): ...DEVICE" followed by REST. */
static void expect_placed(const char *log, const char *node, const char *device, const char *rest) {
    char begin[128], end[128];
    snprintf(begin, sizeof begin, "%s: (", node);
    snprintf(end, sizeof end, "): /job:localhost/replica:0/task:0%s%s", device, rest);
    for (const char *line = log; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        if (strncmp(line, begin, strlen(begin)) != 0 || length < strlen(end)) continue;
        if (strncmp(line + length - strlen(end), end, strlen(end)) == 0) return;
    }
    fail_msg("'%s' is not on %s in '%s'", node, device, log);
}

/* ---- memory ---- */

static void no_memory_is_taken_in_advance(void **state) {
    (void)state;
    mst_device_info info[2];
    int count;
    char made[MOST_LOG];
    EXPECT_OK(mst_devices_describe("gpu", NULL, info, 2, &count));
    assert_int_equal(count, 2);
    assert_string_equal(info[1].kind, "NVIDIA H200");
    FILE *file = fopen(folder_path("options"), "r");
    assert_non_null(file);
    read_all(file, made);
    assert_string_equal(made, "preallocate false\n");
}

/* A sum of N x N random numbers on each of two GPUs. OPTIONS may be wrong. */
static mst_status run_sum(mst_session_options options, int64_t n, int *num_devices) {
    mst_graph *g = engine_graph();
    mst_value x = MST_NONE;
    for (int i = 0; i < 2; i++)
        mst_with_device (g, i ? "/gpu:1" : "/gpu:0") {
            const mst_value part = mst_reduce_sum(mst_random_uniform(g, MST_SHAPE(n, n)));
            x = i ? mst_add(x, part) : part;
        }
    mst_session *session;
    mst_status status = mst_session_create(g, &options, &session);
    if (!status) {
        *num_devices = mst_session_num_devices(session);
        status = mst_session_run(session, NULL, 0, &x, 1, NULL);
        mst_session_destroy(session);
    }
    mst_graph_destroy(g);
    return status;
}

static void a_limit_of_4096_mb_is_kept(void **state) {
    (void)state;
    int count;
    EXPECT_OK(run_sum((mst_session_options){.devices = "gpu:2", .memory_limit = 4096 * MB}, 1000, &count));
    assert_int_equal(count, 2);
    EXPECT_ERROR(run_sum((mst_session_options){.devices = "gpu:2", .memory_limit = 4096 * MB}, 40000, &count),
                 MST_OUT_OF_MEMORY, "the limit is 4.0 GB");
    EXPECT_OK(run_sum((mst_session_options){.devices = "gpu:2"}, 1000, &count));
}

static void two_logical_gpus_have_1024_mb_each(void **state) {
    (void)state;
    int count;
    EXPECT_OK(run_sum((mst_session_options){.devices = "gpu:1x2", .memory_limit = 1024 * MB}, 1000, &count));
    assert_int_equal(count, 2);
    EXPECT_ERROR(run_sum((mst_session_options){.devices = "gpu:1x2", .memory_limit = 1024 * MB}, 20000, &count),
                 MST_OUT_OF_MEMORY, "the limit is 1.0 GB");
}

static void limits_above_the_memory_are_refused(void **state) {
    (void)state;
    int count;
    EXPECT_ERROR(run_sum((mst_session_options){.devices = "gpu:2", .memory_limit = 200 * 1024 * MB}, 10, &count),
                 MST_INVALID, "the memory limit of 200.0 GB is more than GPU:0 has, which is 140.6 GB");
    EXPECT_ERROR(run_sum((mst_session_options){.devices = "gpu:1x2", .memory_limit = 100 * 1024 * MB}, 10, &count),
                 MST_INVALID, "2 logical devices with a memory limit of 100.0 GB each need more than their GPU has");
}

/* ---- what a GPU cannot do ---- */

static mst_status like_source(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status triple(const mst_kernel_args *a) {
    for (int64_t i = 0; i < a->dst[0].count; i++) ((float *)a->dst[0].data)[i] = 3 * ((const float *)a->src[0].data)[i];
    return MST_OK;
}

static const mst_op triple_op = {.name = "test_triple",
                                 .num_src = 1,
                                 .num_dst = 1,
                                 .dtypes = MST_DTYPE_BIT(MST_F32),
                                 .infer = like_source,
                                 .reference = triple};

typedef struct words {
    mst_graph *graph;
    mst_value sum;
} words;

/* 3 * (the number of "b" in a vocabulary) + 1. The device scope is SCOPE, and that of the sum a GPU. */
static words build_words(const char *scope) {
    words w = {.graph = engine_graph()};
    mst_tensor *vocabulary;
    EXPECT_OK(mst_tensor_create(MST_STRING, MST_SHAPE(3), &vocabulary));
    for (int i = 0; i < 3; i++)
        EXPECT_OK(mst_tensor_set_string(vocabulary, i, mst_string_of((const char *[]){"a", "b", "c"}[i])));
    mst_with_device (w.graph, scope) {
        const mst_value word = mst_rename(mst_string_scalar(w.graph, "b"), "word");
        const mst_value number = mst_string_lookup(mst_reshape(word, MST_SHAPE(1)), .vocabulary = vocabulary);
        const mst_value source = mst_cast(number, MST_F32);
        const mst_value tripled = mst_rename(mst_call(w.graph, &triple_op, 1, &source, NULL), "tripled");
        mst_with_device (w.graph, "/gpu:1") {
            w.sum = mst_rename(mst_add(tripled, mst_fill(w.graph, MST_F32, MST_SHAPE(1), 1)), "sum");
        }
    }
    mst_tensor_release(vocabulary);
    return w;
}

static void what_a_gpu_cannot_do_is_on_the_cpu(void **state) {
    (void)state;
    /* without a scope nothing is moved: no device was asked for */
    for (int soft = 0; soft < 2; soft++) {
        words w = build_words(soft ? "/gpu:0" : "");
        FILE *file = tmpfile();
        mst_session *session;
        char log[MOST_LOG];
        assert_non_null(file);
        EXPECT_OK(mst_session_create(
            w.graph,
            &(mst_session_options){.devices = "gpu:2", .allow_soft_placement = soft == 1, .placement_log = file},
            &session));
        EXPECT_OK(mst_session_init_variables(session));
        assert_true(engine_number(session, w.sum) == 3 * 2 + 1);
        engine_end(w.graph, session);
        read_all(file, log);
        const char *moved = soft ? ", moved from /device:GPU:0" : "";
        expect_placed(log, "word", "/device:CPU:0", moved);
        expect_placed(log, "string_lookup/string_to_hash_bucket_fast", "/device:CPU:0", moved);
        expect_placed(log, "string_lookup/lookup", "/device:CPU:0", moved);
        expect_placed(log, "cast", "/device:GPU:0", "");
        expect_placed(log, "tripled", "/device:CPU:0", moved);
        expect_placed(log, "sum", "/device:GPU:1", "");
    }
}

static void without_soft_placement_that_is_an_error(void **state) {
    (void)state;
    words w = build_words("/gpu:0");
    mst_session *session;
    EXPECT_OK(mst_session_create(w.graph, &(mst_session_options){.devices = "gpu:2"}, &session));
    EXPECT_ERROR(
        mst_session_run(session, NULL, 0, &w.sum, 1, NULL), MST_INVALID,
        "/device:GPU:0, which cannot run it; it could run on /job:localhost/replica:0/task:0/device:CPU:0: change "
        "the device scope or allow soft placement");
    engine_end(w.graph, session);
}

static void a_gpu_that_is_not_there_is_one_line(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value sum = MST_NONE;
    mst_with_device (g, "/gpu:7") sum = mst_rename(mst_fill(g, MST_F32, MST_SHAPE(2), 1), "sum");
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "gpu:2"}, &session));
    EXPECT_ERROR(
        mst_session_run(session, NULL, 0, &sum, 1, NULL), MST_INVALID,
        "node 'sum' (constant) was put on /job:localhost/replica:0/task:0/device:GPU:7, which is not there; it could "
        "run on /job:localhost/replica:0/task:0/device:GPU:0,");
    engine_end(g, session);
}

static int begin(void **state) {
    const char *shim = getenv("MUSTER_SHIM");
    if (folder_create(state)) return -1;
    setenv("MUSTER_PJRT_PLUGIN", shim ? shim : "", true);
    setenv("MUSTER_SHIM_PLATFORM", "cuda", true);
    setenv("MUSTER_SHIM_DEVICES", "2", true);
    setenv("MUSTER_SHIM_KIND", "NVIDIA H200", true);
    setenv("MUSTER_SHIM_BYTES_LIMIT", "151000000000", true);
    setenv("MUSTER_SHIM_OPTIONS", folder_path("options"), true);
    return mst_compile_cache_set("off", 0, NULL) ? -1 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_taken_in_advance),
        cmocka_unit_test(a_limit_of_4096_mb_is_kept),
        cmocka_unit_test(two_logical_gpus_have_1024_mb_each),
        cmocka_unit_test(limits_above_the_memory_are_refused),
        cmocka_unit_test(what_a_gpu_cannot_do_is_on_the_cpu),
        cmocka_unit_test(without_soft_placement_that_is_an_error),
        cmocka_unit_test(a_gpu_that_is_not_there_is_one_line),
    };
    return bare_is_skipped() ? BARE_SKIPPED : cmocka_run_group_tests(tests, begin, folder_remove);
}
