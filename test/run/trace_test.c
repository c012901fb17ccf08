/* A trace contains what runs while it is taken, and nothing else. Afterwards it does not need the session. */
#include "run/trace.h"

#include <jansson.h>
#include <pthread.h>

#include "muster/ops.h"
#include "support/fault.h"
#include "support/folder.h"
#include "support/test.h"

typedef struct program {
    mst_graph *graph;
    mst_session *session;
    mst_value fetch;
    mst_trace *trace;
} program;

/* total = sum(relu(x x)), x on device 0 and the rest on device 1, through a point that can fail; and a trace, not yet
 * taken. */
static program make(int num_frames) {
    program p;
    mst_value x = MST_NONE;
    EXPECT_OK(mst_graph_create(&p.graph));
    mst_with_device (p.graph, "/cpu:0") x = mst_rename(mst_random_uniform(p.graph, .shape = MST_SHAPE(32, 32)), "x");
    mst_with_device (p.graph, "/cpu:1") {
        const mst_value y = mst_rename(mst_relu(mst_rename(mst_matmul(x, x), "product")), "y");
        p.fetch = mst_rename(mst_reduce_sum(fault_point(y, "point")), "total");
    }
    const mst_session_options options = {.devices = "cpu:2/1", .num_frames = num_frames};
    EXPECT_OK(mst_session_create(p.graph, &options, &p.session));
    EXPECT_OK(mst_trace_create(&p.trace));
    return p;
}

static program make_traced(int num_frames) {
    const program p = make(num_frames);
    mst_session_trace(p.session, p.trace);
    return p;
}

static void destroy_session(program *p) {
    mst_session_destroy(p->session);
    mst_graph_destroy(p->graph);
}

static void destroy(program *p) {
    destroy_session(p);
    mst_trace_destroy(p->trace);
}

static mst_status run(const program *p) {
    mst_tensor *output = NULL;
    const mst_status status = mst_session_run(p->session, NULL, 0, &p->fetch, 1, &output);
    mst_tensor_release(output);
    return status;
}

/* What the run did for the node; NULL where that is not in it. */
static const mst_traced *find(const mst_traced_run *run, int device, const char *name) {
    for (int64_t i = 0; i < run->device[device].num_did; i++)
        if (strcmp(run->device[device].did[i].name, name) == 0) return &run->device[device].did[i];
    return NULL;
}

static void a_trace_has_the_runs_between_its_begin_and_end(void **state) {
    (void)state;
    program p = make(1);
    EXPECT_OK(run(&p));
    assert_int_equal(mst_trace_num_runs(p.trace), 0);
    mst_session_trace(p.session, p.trace);
    EXPECT_OK(run(&p));
    EXPECT_OK(run(&p));
    mst_session_trace(p.session, NULL);
    EXPECT_OK(run(&p));
    assert_int_equal(mst_trace_num_runs(p.trace), 2);
    destroy_session(&p); /* a trace needs no session any more */
    /* on devices that compile each of the two runs one program, which is made later than it is started */
    const bool compiles = engine_compiles();
    const char *const names[] = {compiles ? "program_0" : "x", compiles ? "program_1" : "y",
                                 compiles ? "program_1" : "total"};
    for (int r = 0; r < 2; r++) {
        const mst_traced_run *traced = &p.trace->run[r];
        assert_int_equal(traced->num_devices, compiles ? 3 : 2);
        const mst_traced *x = find(traced, 0, names[0]), *y = find(traced, 1, names[1]),
                         *total = find(traced, 1, names[2]);
        assert_true(x && y && total && !find(traced, 1, names[0]));
        if (!x || !y || !total) return;
        assert_true(x->begin >= 0 && x->begin <= x->end && x->end <= y->end && (compiles || y->end <= total->begin));
        assert_true(x->bytes == 32 * 32 * 4 && x->num_dst == 1 && x->dst[0].shape.dim[0] == 32);
    }
    assert_true(find(&p.trace->run[0], 1, names[2])->end <= find(&p.trace->run[1], 0, names[0])->begin);
    mst_trace_destroy(p.trace);
}

/* It rises and falls, and at the end of a run nothing is left. */
static void the_memory_of_a_run_begins_and_ends_at_0(void **state) {
    (void)state;
    program p = make_traced(1);
    EXPECT_OK(run(&p));
    for (int d = 0; d < 2; d++) {
        const mst_traced_device *device = &p.trace->run[0].device[d];
        assert_true(device->num_memory >= 2);
        int64_t most = 0;
        for (int64_t i = 0; i < device->num_memory; i++) {
            assert_true(device->memory[i].bytes >= 0);
            assert_true(i == 0 || device->memory[i].time > device->memory[i - 1].time);
            if (device->memory[i].bytes > most) most = device->memory[i].bytes;
        }
        assert_true(most >= 32 * 32 * 4);
        assert_int_equal(device->memory[device->num_memory - 1].bytes, 0);
    }
    destroy(&p);
}

static void a_run_that_fails_is_left_out(void **state) {
    (void)state;
    program p = make_traced(1);
    fault_arm(FAULT_ERROR, "point", 0);
    EXPECT_ERROR(run(&p), MST_IO, "the disk is gone");
    fault_disarm();
    EXPECT_OK(run(&p));
    assert_int_equal(mst_trace_num_runs(p.trace), 1);
    destroy(&p);
}

enum { THREADS = 3, EACH = 20 };

static void *run_often(void *context) {
    for (int i = 0; i < EACH; i++)
        if (run(context)) return context;
    return NULL;
}

static void runs_of_several_threads_are_all_there(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    program p = make_traced(2);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_often, &p), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(mst_trace_num_runs(p.trace), THREADS * EACH);
    destroy(&p);
}

/* On devices that share no memory a value crosses by a copy, which is a slice of its own. */
static void copies_between_memories_are_shown(void **state) {
    (void)state;
    program p = make_traced(1);
    EXPECT_OK(run(&p));
    EXPECT_OK(mst_trace_write(p.trace, folder_path("trace.json")));
    json_t *root = json_load_file(folder_path("trace.json"), 0, NULL), *event;
    size_t i;
    int copies = 0, arrows = 0;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event) {
        const json_t *category = json_object_get(event, "cat");
        copies += category && strcmp(json_string_value(category), "copy") == 0;
        arrows += strcmp(json_string_value(json_object_get(event, "ph")), "s") == 0;
    }
    assert_int_equal(copies > 0, strcmp(engine_here("cpu"), "cpu") != 0);
    assert_true(arrows > 0);
    json_decref(root);
    EXPECT_ERROR(mst_trace_write(p.trace, folder_path("none/trace.json")), MST_IO, "none");
    destroy(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_has_the_runs_between_its_begin_and_end),
        cmocka_unit_test(the_memory_of_a_run_begins_and_ends_at_0),
        cmocka_unit_test(a_run_that_fails_is_left_out),
        cmocka_unit_test(runs_of_several_threads_are_all_there),
        TEST_IN_FOLDER(copies_between_memories_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
