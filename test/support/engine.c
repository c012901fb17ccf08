/* Graphs, sessions and tensors in one line of a test each. Whatever fails here fails the test. */
#include "support/engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "support/expect.h"
#include "tensor/string.h"

mst_graph *engine_graph(void) {
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    return graph;
}

mst_session *engine_session(mst_graph *graph, const char *devices) {
    mst_session *session;
    EXPECT_OK(mst_session_create(graph, &(mst_session_options){.devices = devices ? devices : "cpu:1/1"}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    return session;
}

void engine_build_step(mst_graph *graph, mst_session *session, mst_strategy *strategy, const mst_optimizer *optimizer,
                       mst_replica_function replica, void *context, mst_step_values *out) {
    enum { MOST_DEVICES = 128 };
    const char *name[MOST_DEVICES];
    const int devices = mst_session_num_devices(session);
    assert_true(devices <= MOST_DEVICES);
    strategy->num_devices = strategy->kind == MST_STRATEGY_ONE ? 1 : devices;
    for (int i = 0; i < strategy->num_devices; i++) name[i] = mst_session_device(session, i);
    strategy->devices = name;
    mst_strategy_build(graph, strategy, optimizer, replica, context, out);
    strategy->devices = NULL;
    EXPECT_OK(mst_graph_check(graph));
    EXPECT_OK(mst_session_init_variables(session));
}

void engine_end(mst_graph *graph, mst_session *session) {
    mst_session_destroy(session);
    mst_graph_destroy(graph);
}

mst_tensor *engine_tensor(mst_dtype dtype, mst_shape shape, const double *value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; value && i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, value[i]);
    return tensor;
}

mst_tensor *engine_random(mst_dtype dtype, mst_shape shape, double low, double high, unsigned seed) {
    mst_tensor *tensor = engine_tensor(dtype, shape, NULL);
    uint64_t x = seed * 2654435761u + 12345;
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        mst_tensor_set(tensor, i, low + (high - low) * (double)(x >> 40) / (double)(1 << 24));
    }
    return tensor;
}

mst_value engine_input(mst_graph *graph, const char *name, mst_shape shape) {
    return mst_placeholder(graph, MST_F32, shape, name);
}

mst_tensor *engine_fetch(mst_session *session, const mst_feed *feeds, int num_feeds, mst_value fetch) {
    mst_tensor *output = NULL;
    EXPECT_OK(mst_session_run(session, feeds, num_feeds, &fetch, 1, &output));
    return output;
}

void engine_expect_built(mst_value (*build)(mst_value src), mst_tensor *fed, mst_shape wanted_shape,
                         const double *wanted) {
    mst_graph *graph = engine_graph();
    mst_shape shape = mst_tensor_shape(fed);
    shape.dim[0] = -1;
    const mst_value x = mst_placeholder(graph, mst_tensor_dtype(fed), shape, .name = "x"), y = build(x);
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    mst_tensor *out = engine_fetch(session, &(mst_feed){.value = x, .tensor = fed}, 1, y);
    assert_true(mst_shape_equal(mst_tensor_shape(out), wanted_shape));
    for (int64_t i = 0; i < mst_tensor_count(out); i++)
        if (mst_tensor_get(out, i) != wanted[i])
            fail_msg("element %lld is %g, must be %g", (long long)i, mst_tensor_get(out, i), wanted[i]);
    mst_tensor_release(out);
    engine_end(graph, session);
}

double engine_number(mst_session *session, mst_value fetch) {
    mst_tensor *output = engine_fetch(session, NULL, 0, fetch);
    assert_int_equal(mst_tensor_count(output), 1);
    double number = mst_tensor_get(output, 0);
    mst_tensor_release(output);
    return number;
}

void engine_run(mst_session *session, mst_value fetch) {
    EXPECT_OK(mst_session_run(session, NULL, 0, &fetch, 1, NULL));
}

void engine_set_run(mst_session *session, int64_t number) {
    atomic_store(&mst_session_store(session)->runs, (uint64_t)number);
}

/* "-2" and then a zero byte and more, which a reader of C strings would miss. */
void engine_set(mst_tensor *tensor, int64_t i, double value) {
    char text[64];
    if (mst_tensor_dtype(tensor) != MST_STRING) {
        mst_tensor_set(tensor, i, value);
        return;
    }
    const size_t length = (size_t)snprintf(text, sizeof text, "%.17g", value), more = length % 3 * 8;
    memset(text + length, 'x', more);
    if (more) text[length] = '\0';
    EXPECT_OK(mst_tensor_set_string(tensor, i, (mst_string){text, length + more}));
}

double engine_get(const mst_tensor *tensor, int64_t i) {
    char text[64];
    if (mst_tensor_dtype(tensor) != MST_STRING) return mst_tensor_get(tensor, i);
    const mst_string string = ((const mst_string *)mst_tensor_data(tensor))[i];
    assert_true(string.length < sizeof text);
    if (string.length) memcpy(text, string.data, string.length);
    text[string.length] = '\0';
    return strtod(text, NULL);
}

bool engine_same_bits(const mst_tensor *a, const mst_tensor *b) {
    return mst_tensor_dtype(a) == mst_tensor_dtype(b) && mst_shape_equal(mst_tensor_shape(a), mst_tensor_shape(b)) &&
           mst_tensor_same(a, b);
}

double engine_distance(const mst_tensor *a, const mst_tensor *b) {
    if (!mst_shape_equal(mst_tensor_shape(a), mst_tensor_shape(b))) return INFINITY;
    double most = 0;
    for (int64_t i = 0; i < mst_tensor_count(a); i++) {
        double x = mst_tensor_get(a, i), y = mst_tensor_get(b, i);
        double distance = fabs(x - y) / fmax(1, fabs(y));
        if (!(distance <= most)) most = distance;
    }
    return most;
}

bool engine_onednn_wants_blocks(void) {
    return __builtin_cpu_supports("avx512f") && !getenv("DNNL_MAX_CPU_ISA") && !getenv("ONEDNN_MAX_CPU_ISA");
}

/* ---- counting ---- */

static atomic_int runs;

static mst_status infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status reference(const mst_kernel_args *a) {
    atomic_fetch_add(&runs, 1);
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * mst_dtype_size(a->dst[0].dtype));
    return MST_OK;
}

const mst_op engine_count_op = {
    .name = "count_runs", .num_src = 1, .num_dst = 1, .dtypes = MST_ALL_DTYPES, .infer = infer, .reference = reference};
const mst_op engine_count_stateful_op = {.name = "count_stateful_runs",
                                         .num_src = 1,
                                         .num_dst = 1,
                                         .dtypes = MST_ALL_DTYPES,
                                         .flags = MST_OP_STATEFUL,
                                         .infer = infer,
                                         .reference = reference};

mst_value engine_count(mst_value src) {
    return mst_call(NULL, &engine_count_op, 1, &src, NULL);
}

mst_value engine_count_stateful(mst_value src) {
    return mst_call(NULL, &engine_count_stateful_op, 1, &src, NULL);
}

int engine_counted(void) {
    return atomic_exchange(&runs, 0);
}
