/* Steps over several devices: the same bits as on one, readers and writers in their order, errors of one device that
 * end the step and not the session, denormal numbers that are 0 on all of them, and the first values of variables.
 * Steps are repeated many times, so that what depends on time shows. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

enum { RUNS = 300, STRESS = 2000, LINKS = 40 };

static int device_push(mst_graph *g, int device) {
    char name[16];
    snprintf(name, sizeof name, "/cpu:%d", device);
    return mst_device_push(g, name);
}

/* A web of nodes that hops between DEVICES devices. */
static mst_value web(mst_graph *g, mst_value x, int devices) {
    mst_value y[LINKS] = {x};
    for (int i = 1; i < LINKS; i++) {
        device_push(g, (i * 7 + i / 5) % devices);
        mst_value other = y[i / 2];
        y[i] = i % 3 == 0   ? mst_tanh(mst_add(y[i - 1], other))
               : i % 3 == 1 ? mst_sub(y[i - 1], other)
                            : mst_neg(y[i - 1]);
        if (i % 5 == 0) y[i] = mst_reshape(y[i], MST_SHAPE(-1, 8));
        if (i % 5 == 1 && i > 1) y[i] = mst_reshape(y[i], MST_SHAPE(64));
        if (i % 5 == 0) y[i] = mst_reshape(y[i], MST_SHAPE(64));
        mst_device_pop(g);
    }
    return y[LINKS - 1];
}

static void chains_over_devices_give_the_bits_of_one_device_every_time(void **state) {
    (void)state;
    mst_tensor *wanted = NULL, *tensor = engine_random(MST_F32, MST_SHAPE(64), -1, 1, 5);
    for (int devices = 1; devices <= 4; devices++) {
        mst_graph *g = engine_graph();
        char spec[16];
        snprintf(spec, sizeof spec, "cpu:%d/1", devices);
        mst_value x = engine_input(g, "x", MST_SHAPE(64)), y = web(g, x, devices);
        mst_session *session = engine_session(g, spec);
        mst_feed feed = {.value = x, .tensor = tensor};
        mst_tensor *got = NULL;
        for (int i = 0; i < RUNS; i++) {
            EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &got));
            if (!wanted) wanted = mst_tensor_retain(got);
            if (!engine_same_bits(got, wanted)) fail_msg("%d devices, run %d", devices, i);
        }
        mst_tensor_release(got);
        engine_end(g, session);
    }
    mst_tensor_release(wanted);
    mst_tensor_release(tensor);
}

/* v is on device 0 and is read on all, the sum of what they read is added to it on device 0 */
static void readers_on_other_devices_never_see_a_write_of_their_step(void **state) {
    (void)state;
    for (int devices = 2; devices <= 4; devices += 2) {
        enum { COUNT = 5000 };
        mst_graph *g = engine_graph();
        mst_value v = MST_NONE, read[4];
        mst_with_device (g, "/cpu:0") v = mst_variable(g, "v", mst_fill(g, MST_F64, MST_SHAPE(COUNT), 1));
        mst_value write = mst_assign_add(v, mst_fill(g, MST_F64, MST_SHAPE(COUNT), 1));
        for (int d = 0; d < devices; d++) {
            device_push(g, d);
            mst_value low = mst_reduce_min(v), high = mst_reduce_max(mst_scale(v, 1));
            read[d] = mst_add(low, mst_scale(high, 1e6));
            mst_device_pop(g);
        }
        char spec[16];
        snprintf(spec, sizeof spec, "cpu:%d/1", devices);
        mst_session *session = engine_session(g, spec);
        mst_value fetch[5] = {write};
        memcpy(fetch + 1, read, sizeof read);
        mst_tensor *got[5] = {NULL};
        for (int i = 1; i <= STRESS; i++) {
            EXPECT_OK(mst_session_run(session, NULL, 0, fetch, devices + 1, got));
            for (int d = 0; d < devices; d++)
                if (mst_tensor_get(got[d + 1], 0) != i + 1e6 * i)
                    fail_msg("step %d: device %d saw another value", i, d);
            if (mst_tensor_get(got[0], COUNT - 1) != i + 1) fail_msg("step %d: the write gave another value", i);
        }
        for (int d = 0; d <= devices; d++) mst_tensor_release(got[d]);
        engine_end(g, session);
    }
}

/* The variable goes around: each device adds its number to what the one before left. */
static void writers_on_different_devices_are_ordered_by_control(void **state) {
    (void)state;
    for (int devices = 2; devices <= 4; devices += 2) {
        mst_graph *g = engine_graph();
        mst_value v = MST_NONE, last = MST_NONE;
        mst_with_device (g, "/cpu:1") v = mst_variable(g, "v", mst_fill(g, MST_F64, MST_SHAPE(1000), 0));
        for (int d = 0; d < devices; d++) {
            device_push(g, d);
            mst_value old = last;
            mst_control_push(g, old);
            last = mst_assign(v, mst_add(mst_scale(v, 0.5), mst_fill(g, MST_F64, MST_SHAPE(1000), d)));
            mst_control_pop(g);
            mst_device_pop(g);
        }
        char spec[16];
        snprintf(spec, sizeof spec, "cpu:%d/1", devices);
        mst_session *session = engine_session(g, spec);
        double wanted = 0;
        mst_tensor *got = NULL;
        for (int i = 0; i < STRESS; i++) {
            for (int d = 0; d < devices; d++) wanted = wanted / 2 + d;
            EXPECT_OK(mst_session_run(session, NULL, 0, &last, 1, &got));
            if (mst_tensor_get(got, 0) != wanted || mst_tensor_get(got, 999) != wanted) fail_msg("step %d", i);
        }
        mst_tensor_release(got);
        engine_end(g, session);
    }
}

static void feeds_and_constants_are_seen_on_all_devices(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1)), y = MST_NONE;
    mst_with_device (g, "/cpu:1") y = mst_add(x, mst_scalar(g, MST_F32, 1));
    mst_with_device (g, "/cpu:2") y = mst_mul(x, y);
    mst_session *session = engine_session(g, "cpu:3/1");
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){2, 3})};
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(mst_tensor_get(got, 0) == 6 && mst_tensor_get(got, 1) == 12);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static mst_status fill(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    (void)first_row;
    for (int64_t i = 0; i < mst_shape_count(spec->shape); i++) ((float *)dst)[i] = *(float *)context;
    return MST_OK;
}

static void filled_feeds_cross_devices(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = MST_NONE, y = MST_NONE;
    mst_with_device (g, "/cpu:1") x = engine_input(g, "x", MST_SHAPE(-1));
    mst_with_device (g, "/cpu:0") y = mst_reduce_sum(x);
    mst_session *session = engine_session(g, "cpu:2/1");
    float value = 0;
    mst_feed feed = {.value = x, .fill = fill, .context = &value, .spec = {.dtype = MST_F32, .shape = MST_SHAPE(100)}};
    for (int i = 0; i < RUNS; i++, value += 1) {
        mst_tensor *got = engine_fetch(session, &feed, 1, y);
        if (mst_tensor_get(got, 0) != 100 * (double)value) fail_msg("run %d", i);
        mst_tensor_release(got);
    }
    engine_end(g, session);
}

/* ---- errors ---- */

static void error_on_one_device_ends_the_step_and_the_session_goes_on(void **state) {
    (void)state;
    for (int failing = 0; failing < 2; failing++) {
        mst_graph *g = engine_graph();
        mst_value index = mst_placeholder(g, MST_I32, MST_SHAPE(1), "index"), row = MST_NONE, y = MST_NONE;
        device_push(g, failing);
        mst_value table = mst_variable(g, "table", mst_values(g, MST_F32, MST_SHAPE(3), (double[]){10, 20, 30}));
        row = mst_rename(mst_gather(table, index, 0), "row");
        mst_device_pop(g);
        device_push(g, 1 - failing); /* waits for what never comes */
        y = mst_neg(row);
        mst_device_pop(g);
        mst_session *session = engine_session(g, "cpu:2/1");
        mst_feed feed = {.value = index, .tensor = engine_tensor(MST_I32, MST_SHAPE(1), NULL)};
        for (int i = 0; i < 50; i++) {
            mst_tensor_set(feed.tensor, 0, 7);
            EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_INVALID, "'row'");
            assert_string_equal(mst_error()->node, "row");
            assert_string_equal(mst_error()->device, mst_session_device(session, failing));
            mst_tensor_set(feed.tensor, 0, 2);
            mst_tensor *got = engine_fetch(session, &feed, 1, y);
            assert_true(mst_tensor_get(got, 0) == -30);
            mst_tensor_release(got);
        }
        mst_tensor_release(feed.tensor);
        engine_end(g, session);
    }
}

static void label_out_of_range_names_node_row_and_label(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value labels = mst_placeholder(g, MST_I64, MST_SHAPE(3), "labels");
    mst_value loss =
        mst_rename(mst_sparse_softmax_cross_entropy(mst_random_normal(g, MST_SHAPE(3, 10)), labels), "xent");
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = labels, .tensor = engine_tensor(MST_I64, MST_SHAPE(3), (double[]){0, 9, 10})};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &loss, 1, NULL), MST_INVALID, "'xent'");
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &loss, 1, NULL), MST_INVALID, "10");
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void step_that_fails_changes_no_variable(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_scalar(g, MST_F32, 1)), bad = MST_NONE;
    mst_value index = mst_placeholder(g, MST_I32, MST_SHAPE(1), "index");
    mst_with_control (g, mst_assign_add(v, mst_scalar(g, MST_F32, 1)))
        bad = mst_gather(mst_fill(g, MST_F32, MST_SHAPE(3), 0), index, 0);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = index, .tensor = engine_tensor(MST_I32, MST_SHAPE(1), (double[]){3})};
    assert_int_equal(mst_session_run(session, &feed, 1, &bad, 1, NULL), MST_INVALID);
    assert_true(engine_number(session, v) == 1);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void check_numerics_names_the_first_node_that_made_a_nan(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(4));
    mst_value root = mst_rename(mst_log(mst_neg(mst_square(x))), "bad_log"), y = mst_rename(mst_exp(root), "later");
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .check_numerics = true}, &session));
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(4), (double[]){1, 2, 3, 4})};
    engine_set_run(session, 12);
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_NUMERICS,
                 "log 'bad_log' made a NaN or Inf in f32[4]");
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_NUMERICS,
                 "run 12"); /* one that failed is not counted */
    assert_string_equal(mst_error()->node, "bad_log");
    mst_session_destroy(session);
    session = engine_session(g, NULL); /* without the check it is a value */
    EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, NULL));
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void check_numerics_sees_what_is_written_to_variables(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_scalar(g, MST_F64, 1e300));
    mst_value write = mst_rename(mst_assign_add(v, mst_scalar(g, MST_F64, 1.7e308)), "write");
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.check_numerics = true}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    mst_value read = mst_neg(v);
    engine_run(session, write);
    assert_true(engine_number(session, read) < -1.6e308);
    engine_run(session, write);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &read, 1, NULL), MST_NUMERICS, "variable 'v' holds a NaN or Inf");
    assert_string_equal(mst_error()->node, "v");
    engine_end(g, session);
}

/* A session on two devices that checks numerics, with first values. */
static mst_session *checking_session(mst_graph *g) {
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1", .check_numerics = true}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    return session;
}

static void check_numerics_looks_through_views(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value fed = engine_input(g, "x", MST_SHAPE(2, 2)), v = MST_NONE, read = MST_NONE, view = MST_NONE;
    mst_with_device (g, "/cpu:1") {
        v = mst_variable(g, "v", mst_values(g, MST_BF16, MST_SHAPE(2, 2), (double[]){1, 2, INFINITY, 4}));
        read = mst_cast(mst_reshape(v, MST_SHAPE(4)), MST_F64);
        view = mst_reshape(fed, MST_SHAPE(4));
    }
    mst_value made = mst_rename(mst_square(view), "made");
    mst_session *session = checking_session(g);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &read, 1, NULL), MST_NUMERICS,
                 "variable 'v' holds a NaN or Inf in bf16[2, 2], the first in run ");
    assert_string_equal(mst_error()->node, "v");
    assert_string_equal(mst_error()->device, mst_session_device(session, 1));
    mst_feed feed = {.value = fed, .tensor = engine_tensor(MST_F32, MST_SHAPE(2, 2), (double[]){1, NAN, 3, 4})};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &made, 1, NULL), MST_NUMERICS, "square 'made' made a NaN or Inf");
    assert_string_equal(mst_error()->device, mst_session_device(session, 0));
    mst_tensor *got = engine_fetch(session, &feed, 1, view); /* nothing has made it */
    assert_true(isnan(mst_tensor_get(got, 1)));
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

/* An op that may fail comes after the write, so the write is seen before the gate. */
static void check_numerics_names_a_write_that_the_same_step_reads(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_values(g, MST_F32, MST_SHAPE(2), (double[]){1, 3e38}));
    mst_value write = mst_rename(mst_assign_add(v, mst_fill(g, MST_F32, MST_SHAPE(2), 3e38)), "write");
    mst_value index = mst_placeholder(g, MST_I32, MST_SHAPE(1), "index"), row = MST_NONE;
    mst_with_control (g, write) row = mst_gather(v, index, 0);
    mst_session *session = checking_session(g);
    mst_feed feed = {.value = index, .tensor = engine_tensor(MST_I32, MST_SHAPE(1), (double[]){0})};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &row, 1, NULL), MST_NUMERICS,
                 "assign_add 'write' made a NaN or Inf");
    assert_string_equal(mst_error()->node, "write");
    mst_tensor *got;
    EXPECT_OK(mst_session_get_variable(session, v, &got));
    assert_true(mst_tensor_get(got, 0) == 1);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static mst_status stuck(const mst_kernel_args *a) {
    struct timespec second = {.tv_nsec = 400000000};
    nanosleep(&second, NULL);
    memcpy(a->dst[0].data, a->src[0].data, sizeof(float));
    return MST_OK;
}

static mst_status like_source(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static void device_that_waits_too_long_is_an_error_that_names_the_value(void **state) {
    (void)state;
    static const mst_op op = {.name = "stuck",
                              .num_src = 1,
                              .num_dst = 1,
                              .dtypes = MST_FLOATS,
                              .flags = MST_OP_STATEFUL,
                              .infer = like_source,
                              .reference = stuck};
    mst_graph *g = engine_graph();
    mst_value x = mst_scalar(g, MST_F32, 1), y = MST_NONE;
    engine_with_kernels (g, "/cpu:1") x = mst_call_named(g, &op, "slow", 1, &x, NULL);
    mst_with_device (g, "/cpu:0") y = mst_neg(x);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1", .timeout = 0.05}, &session));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_DEADLINE, "'slow' (stuck)");
    assert_string_equal(mst_error()->node, "slow");
    assert_string_equal(mst_error()->device, engine_kernels_device(session, 1));
    mst_session_destroy(session);
    session = engine_session(g, "cpu:2/1");
    assert_true(engine_number(session, y) == -1);
    engine_end(g, session);
}

static atomic_bool is_open;
static atomic_int num_inside;

static mst_status wait_until_open(const mst_kernel_args *a) {
    atomic_fetch_add(&num_inside, 1);
    while (!atomic_load(&is_open)) usleep(1000);
    memcpy(a->dst[0].data, a->src[0].data, sizeof(float));
    atomic_fetch_sub(&num_inside, 1);
    return MST_OK;
}

/* On any device: the call returns at the deadline, further calls say what is stuck, and the session can be destroyed.
 */
static void kernel_that_never_returns_does_not_keep_the_caller(void **state) {
    (void)state;
    static const char *const where[] = {"/cpu:0", "/cpu:1"};
    static const mst_op op = {.name = "gate",
                              .num_src = 1,
                              .num_dst = 1,
                              .dtypes = MST_FLOATS,
                              .flags = MST_OP_STATEFUL,
                              .infer = like_source,
                              .reference = wait_until_open};
    for (int destroyed = 0; destroyed < 2; destroyed++)
        for (int d = 0; d < 2; d++) {
            mst_graph *g = engine_graph();
            mst_value x = mst_scalar(g, MST_F32, 1), y = MST_NONE;
            engine_with_kernels (g, where[d]) y = mst_call_named(g, &op, "closed", 1, &x, NULL);
            mst_session *session;
            atomic_store(&is_open, false);
            EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1", .timeout = 0.1}, &session));
            EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_DEADLINE, "'closed' (gate)");
            EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_DEADLINE, "has not come back");
            if (destroyed) mst_session_destroy(session); /* its memory goes when the kernel has come back */
            atomic_store(&is_open, true);
            while (atomic_load(&num_inside)) usleep(1000);
            if (!destroyed) { /* the device comes back */
                for (int i = 0; i < 100 && mst_session_run(session, NULL, 0, &y, 1, NULL) == MST_DEADLINE; i++)
                    continue;
                EXPECT_OK(mst_session_run(session, NULL, 0, &y, 1, NULL));
                mst_session_destroy(session);
            }
            mst_graph_destroy(g);
        }
}

/* 1e-20 * 1e-20 is a denormal number in f32: each device gives 0, and the caller's own arithmetic stays as it was. */
static void denormal_numbers_are_0_on_each_device_and_not_for_the_caller(void **state) {
    (void)state;
#if !defined(__SSE2__) && !defined(__aarch64__)
    skip();
#endif
    enum { DEVICES = 3, COUNT = 100 };
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(COUNT)), y[2 * DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        device_push(g, d);
        y[2 * d] = mst_mul(x, x);
        y[2 * d + 1] = mst_scale(mst_mul(x, mst_scale(x, 1e10)), 1e-10); /* 1e-30, then 1e-40 */
        mst_device_pop(g);
    }
    mst_session *session = engine_session(g, "cpu:3/1");
    mst_tensor *tensor = engine_random(MST_F32, MST_SHAPE(COUNT), 1e-20, 2e-20, 3), *got[2 * DEVICES] = {NULL};
    mst_feed feed = {.value = x, .tensor = tensor};
    EXPECT_OK(mst_session_run(session, &feed, 1, y, 2 * DEVICES, got));
    for (int i = 0; i < 2 * DEVICES; i++)
        for (int64_t k = 0; k < COUNT; k++) assert_true(mst_tensor_get(got[i], k) == 0);
    volatile float small = 1e-20F;
    volatile float product = small * small;
    assert_true(product != 0);
    for (int i = 0; i < 2 * DEVICES; i++) mst_tensor_release(got[i]);
    mst_tensor_release(tensor);
    engine_end(g, session);
}

/* A denormal number by each thread of a team of the program's own: how many give 0. */
static intptr_t count_flushing(void) {
    volatile float small = 1e-39F;
    intptr_t flushing = 0;
#pragma omp parallel num_threads(2) reduction(+ : flushing)
    flushing += small * 0.5F == 0;
    return flushing;
}

/* TEAM_BEFORE: the program has used a team before, else the step makes it. The result counts what is wrong. */
static void *share_work(void *team_before) {
    enum { COUNT = 1 << 17 };
    intptr_t wrong = team_before ? count_flushing() : 0;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(COUNT)), y = mst_scale(x, 0.5);
    mst_session *session = engine_session(g, "cpu:1/2");
    mst_tensor *tensor = engine_random(MST_F32, MST_SHAPE(COUNT), 1e-39, 2e-39, 3);
    mst_tensor *got = engine_fetch(session, &(mst_feed){.value = x, .tensor = tensor}, 1, y);
    for (int64_t i = 0; i < COUNT; i++) wrong += mst_tensor_get(got, i) != 0;
    mst_tensor_release(got);
    mst_tensor_release(tensor);
    engine_end(g, session);
    return (void *)(wrong + count_flushing());
}

static void threads_that_share_a_step_flush_denormal_numbers_in_it_and_only_there(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__) || (!defined(__SSE2__) && !defined(__aarch64__))
    skip(); /* the first takes each team for a race */
#endif
    for (int team_before = 0; team_before < 2; team_before++) {
        pthread_t thread; /* with a team of its own */
        void *wrong;
        assert_int_equal(pthread_create(&thread, NULL, share_work, team_before ? &team_before : NULL), 0);
        assert_int_equal(pthread_join(thread, &wrong), 0);
        assert_int_equal((intptr_t)wrong, 0);
    }
}

/* ---- first values ---- */

/* The device that receives the first values of its domain must have them before another of the domain copies them. */
static void mirrored_variables_begin_alike_on_devices_of_several_domains(void **state) {
    (void)state;
    static const char *const specs[] = {"island:1/1,cpu:2/1", "island:2/1,cpu:3/1", "cpu:2/1,island:2/1"};
    enum { VARIABLES = 6, SIZE = 20 };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        mst_graph *g = engine_graph();
        mst_session *session;
        EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = specs[i]}, &session));
        const int devices = mst_session_num_devices(session);
        char list[1024] = "", name[16];
        for (int d = 0; d < devices; d++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", d ? "," : "",
                     mst_session_device(session, d));
        mst_value v[VARIABLES];
        for (int k = 0; k < VARIABLES; k++) {
            snprintf(name, sizeof name, "v%d", k);
            v[k] = mst_variable(g, name, mst_random_uniform(g, MST_SHAPE(SIZE), .low = 1, .high = 2));
            mst_variable_mirror(v[k], list);
        }
        EXPECT_OK(mst_session_init_variables(session));
        for (int k = 0; k < VARIABLES; k++) {
            mst_tensor *wanted;
            EXPECT_OK(mst_session_get_variable(session, v[k], &wanted));
            for (int d = 0; d < devices; d++) {
                mst_value copy = MST_NONE;
                mst_with_device (g, mst_session_device(session, d)) copy = mst_scale(v[k], 1);
                mst_tensor *got = engine_fetch(session, NULL, 0, copy);
                if (!engine_same_bits(got, wanted) || mst_tensor_get(got, 0) < 1)
                    fail_msg("%s: device %d begins with another v%d", specs[i], d, k);
                mst_tensor_release(got);
            }
            mst_tensor_release(wanted);
        }
        engine_end(g, session);
    }
}

/* The memory of large variables is first touched by their devices, in a job of all devices for each. */
static void large_variables_begin_whole_on_every_device(void **state) {
    (void)state;
    enum { DEVICES = 4, COUNT = 1 << 17, TIMES = 20 };
    for (int i = 0; i < TIMES; i++) {
        mst_graph *g = engine_graph();
        mst_value low[DEVICES], high[DEVICES];
        for (int d = 0; d < DEVICES; d++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", d);
            device_push(g, d);
            const mst_value v = mst_variable(g, name, mst_fill(g, MST_F32, MST_SHAPE(COUNT), i + d));
            low[d] = mst_reduce_min(v);
            high[d] = mst_reduce_max(v);
            mst_device_pop(g);
        }
        mst_session *session = engine_session(g, "cpu:4/1");
        for (int d = 0; d < DEVICES; d++) {
            assert_true(engine_number(session, low[d]) == i + d);
            assert_true(engine_number(session, high[d]) == i + d);
        }
        engine_end(g, session);
    }
}

static void check_numerics_names_a_node_of_constants(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value root = mst_rename(mst_log(mst_scalar(g, MST_F32, -1)), "bad_log"), y = mst_exp(root);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .check_numerics = true}, &session));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_NUMERICS, "log 'bad_log' made a NaN");
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_over_devices_give_the_bits_of_one_device_every_time),
        cmocka_unit_test(readers_on_other_devices_never_see_a_write_of_their_step),
        cmocka_unit_test(writers_on_different_devices_are_ordered_by_control),
        cmocka_unit_test(feeds_and_constants_are_seen_on_all_devices),
        cmocka_unit_test(filled_feeds_cross_devices),
        cmocka_unit_test(error_on_one_device_ends_the_step_and_the_session_goes_on),
        cmocka_unit_test(label_out_of_range_names_node_row_and_label),
        cmocka_unit_test(step_that_fails_changes_no_variable),
        cmocka_unit_test(check_numerics_names_the_first_node_that_made_a_nan),
        cmocka_unit_test(check_numerics_sees_what_is_written_to_variables),
        cmocka_unit_test(check_numerics_looks_through_views),
        cmocka_unit_test(check_numerics_names_a_write_that_the_same_step_reads),
        cmocka_unit_test(device_that_waits_too_long_is_an_error_that_names_the_value),
        cmocka_unit_test(kernel_that_never_returns_does_not_keep_the_caller),
        cmocka_unit_test(denormal_numbers_are_0_on_each_device_and_not_for_the_caller),
        cmocka_unit_test(threads_that_share_a_step_flush_denormal_numbers_in_it_and_only_there),
        cmocka_unit_test(mirrored_variables_begin_alike_on_devices_of_several_domains),
        cmocka_unit_test(large_variables_begin_whole_on_every_device),
        cmocka_unit_test(check_numerics_names_a_node_of_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
