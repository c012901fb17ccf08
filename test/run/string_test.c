/* Strings in sessions: constants, feeds, fetches, ops, devices and memory domains. The same tests also run on the
 * module `island`. There the tests of the registry run every op that takes strings. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

#define BYTES(literal) ((mst_string){(literal), sizeof(literal) - 1})

static mst_tensor *strings(mst_shape shape, const mst_string *value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_copy(MST_STRING, shape, value, &tensor));
    return tensor;
}

static void expect_strings(mst_tensor *tensor, mst_shape shape, const mst_string *wanted) {
    assert_int_equal(mst_tensor_dtype(tensor), MST_STRING);
    assert_true(mst_shape_equal(mst_tensor_shape(tensor), shape));
    mst_tensor *copy = strings(shape, wanted);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) {
        const mst_string have = mst_tensor_get_string(tensor, i), want = mst_tensor_get_string(copy, i);
        if (!mst_string_equal(have, want)) fail_msg("string %d is '%s', must be '%s'", (int)i, have.data, want.data);
    }
    mst_tensor_release(copy);
}

/* Devices that compile have no strings. There soft placement moves the nodes to the CPU. */
static mst_session *soft_session(mst_graph *g, const char *devices) {
    mst_session *session;
    EXPECT_OK(mst_session_create(
        g, &(mst_session_options){.devices = devices, .allow_soft_placement = engine_compiles()}, &session));
    return session;
}

static void string_constant_is_fetched_from_any_device(void **state) {
    (void)state;
    static const char hello[] = "Hello, distributed TensorFlow!";
    static const char *const devices[] = {"/cpu:0", "/cpu:1"};
    for (int d = 0; d < 2; d++) {
        mst_graph *g = engine_graph();
        mst_value value = MST_NONE;
        mst_with_device (g, devices[d]) value = mst_string_scalar(g, hello);
        mst_session *session = soft_session(g, "cpu:2/1");
        for (int i = 0; i < 2; i++) {
            mst_tensor *output = engine_fetch(session, NULL, 0, value);
            assert_string_equal(mst_tensor_get_string(output, 0).data, hello);
            mst_tensor_release(output);
        }
        engine_end(g, session);
    }
}

/* y = [x, constant] on one device, z = its elements 2, 0, 2 on the other, w = z[0] on the first again */
typedef struct relay {
    mst_graph *graph;
    mst_value x, y, z, same, w;
    mst_session *session;
} relay;

static relay relay_begin(const char *devices, const char *one, const char *other, int64_t limit) {
    relay r = {.graph = engine_graph()};
    r.x = mst_placeholder(r.graph, MST_STRING, MST_SHAPE(-1), "x");
    mst_with_device (r.graph, one)
        r.y = mst_concat((mst_value[]){r.x, mst_string_values(r.graph, MST_SHAPE(1), &BYTES("con\0stant"))}, 2, 0);
    mst_with_device (r.graph, other) {
        r.z = mst_gather(r.y, mst_values(r.graph, MST_I32, MST_SHAPE(3), (double[]){2, 0, 2}), 0);
        r.same = mst_equal(r.z, mst_reshape(mst_string_scalar(r.graph, "con"), MST_SHAPE(1)));
    }
    mst_with_device (r.graph, one)
        r.w = mst_squeeze(.src = mst_slice(r.z, MST_SHAPE(0), MST_SHAPE(1)), .axes = MST_AXES(0));
    const mst_session_options options = {
        .devices = devices, .memory_limit = limit, .num_frames = 2, .allow_soft_placement = engine_compiles()};
    EXPECT_OK(mst_session_create(r.graph, &options, &r.session));
    return r;
}

static mst_status relay_run(const relay *r, const mst_string *fed, int64_t count, mst_tensor **output) {
    mst_feed feed = {.value = r->x, .tensor = strings(MST_SHAPE(count), fed)};
    const mst_value fetches[] = {r->y, r->z, r->same, r->w, r->x};
    const mst_status status = mst_session_run(r->session, &feed, 1, fetches, 5, output);
    mst_tensor_release(feed.tensor);
    return status;
}

static void expect_relay(const relay *r, mst_string a, mst_string b, mst_string c) {
    const mst_string constant = BYTES("con\0stant"), con = BYTES("con");
    mst_tensor *output[5] = {NULL};
    EXPECT_OK(relay_run(r, (mst_string[]){a, b, c}, 3, output));
    expect_strings(output[0], MST_SHAPE(4), (mst_string[]){a, b, c, constant});
    expect_strings(output[1], MST_SHAPE(3), (mst_string[]){c, a, c});
    assert_true((mst_tensor_get(output[2], 0) != 0) == mst_string_equal(c, con));
    assert_true((mst_tensor_get(output[2], 1) != 0) == mst_string_equal(a, con));
    expect_strings(output[3], MST_SCALAR, &c);
    expect_strings(output[4], MST_SHAPE(3), (mst_string[]){a, b, c});
    for (int i = 0; i < 5; i++) mst_tensor_release(output[i]);
}

static const struct {
    const char *devices, *one, *other;
} places[] = {
    {"cpu:1/1", "/cpu:0", "/cpu:0"},
    {"cpu:2/1", "/cpu:0", "/cpu:1"},
    {"cpu:2/1", "/cpu:1", "/cpu:0"},
    {"island:1/1,cpu:1/1", "/island:0", "/cpu:0"},
    {"island:1/1,cpu:1/1", "/cpu:0", "/island:0"},
    {"island:2/1", "/island:0", "/island:1"},
};

enum { NUM_PLACES = sizeof places / sizeof *places };

static void strings_go_from_device_to_device(void **state) {
    (void)state;
    enum { LONG = 100000 };
    char *longest = malloc(LONG);
    assert_non_null(longest);
    for (int i = 0; i < LONG; i++) longest[i] = (char)(i * 7);
    for (int p = 0; p < NUM_PLACES; p++) {
        relay r = relay_begin(places[p].devices, places[p].one, places[p].other, 0);
        expect_relay(&r, BYTES("a"), BYTES(""), BYTES("con"));
        expect_relay(&r, BYTES("con"), BYTES("b\0b"), BYTES("\0"));
        expect_relay(&r, (mst_string){longest, LONG}, BYTES("x"), (mst_string){longest + 1, LONG - 1});
        expect_relay(&r, BYTES(""), BYTES(""), BYTES(""));
        expect_relay(&r, BYTES("a"), (mst_string){longest, LONG}, BYTES("a"));
        engine_end(r.graph, r.session);
    }
    free(longest);
}

static int64_t memory_of(const mst_session *session) {
    int64_t bytes = 0;
    for (int d = 0; d < mst_session_num_devices(session); d++) bytes += mst_session_device_memory(session, d);
    return bytes;
}

static void memory_of_received_strings_is_used_again(void **state) {
    (void)state;
    enum { LONG = 30000 };
    char *text = calloc(1, LONG);
    assert_non_null(text);
    relay r = relay_begin("island:2/1", "/island:0", "/island:1", 0);
    for (int length = 1; length < LONG; length *= 3) /* grows step by step */
        expect_relay(&r, (mst_string){text, (size_t)length}, BYTES("b"), BYTES("c"));
    expect_relay(&r, (mst_string){text, LONG}, (mst_string){text, LONG}, (mst_string){text, LONG});
    expect_relay(&r, (mst_string){text, LONG}, (mst_string){text, LONG}, (mst_string){text, LONG});
    const int64_t bytes = memory_of(r.session);
    for (int i = 0; i < 20; i++)
        expect_relay(&r, (mst_string){text, LONG}, (mst_string){text, LONG}, (mst_string){text, (size_t)(1000 * i)});
    assert_int_equal(memory_of(r.session), bytes);
    const int64_t copied = mst_session_copied_bytes(r.session);
    expect_relay(&r, (mst_string){text, LONG}, BYTES(""), BYTES(""));
    assert_true(mst_session_copied_bytes(r.session) - copied > LONG);
    engine_end(r.graph, r.session);
    free(text);
}

static void strings_over_the_memory_limit_fail_the_step_alone(void **state) {
    (void)state;
    enum { LONG = 1 << 17 };
    char *text = calloc(1, LONG);
    assert_non_null(text);
    relay r = relay_begin("island:2/1", "/island:0", "/island:1", 1 << 16);
    mst_tensor *output[5] = {NULL};
    expect_relay(&r, BYTES("a"), BYTES("b"), BYTES("c"));
    EXPECT_ERROR(relay_run(&r, (mst_string[]){{text, LONG}, BYTES("b"), BYTES("c")}, 3, output), MST_OUT_OF_MEMORY,
                 "the strings that it receives take");
    assert_non_null(strstr(mst_error()->device, "ISLAND"));
    for (int i = 0; i < 5; i++) mst_tensor_release(output[i]);
    expect_relay(&r, BYTES("a"), BYTES("b"), BYTES("c"));
    engine_end(r.graph, r.session);
    free(text);
}

static void outputs_are_written_in_place_where_they_can_be(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_STRING, MST_SHAPE(2), "x"), y = mst_identity(x);
    mst_session *session = engine_session(g, NULL);
    mst_string first[] = {BYTES("one"), BYTES("two")}, second[] = {BYTES(""), BYTES("something longer")};
    mst_feed feed = {.value = x, .tensor = strings(MST_SHAPE(2), first)};
    mst_tensor *output = NULL;
    EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &output));
    expect_strings(output, MST_SHAPE(2), first);
    mst_tensor *before = output;
    mst_tensor_release(feed.tensor);
    feed.tensor = strings(MST_SHAPE(2), second);
    EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &output));
    assert_ptr_equal(output, before);
    expect_strings(output, MST_SHAPE(2), second);
    mst_tensor_release(output);
    /* strings that a tensor only wraps are not its own to be replaced */
    EXPECT_OK(mst_tensor_wrap(MST_STRING, MST_SHAPE(2), first, NULL, NULL, &output));
    EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &output));
    expect_strings(output, MST_SHAPE(2), second);
    assert_string_equal(first[0].data, "one");
    /* a wrapped tensor can be fed, and what was fed can be the output of the next run */
    mst_tensor_release(feed.tensor);
    EXPECT_OK(mst_tensor_wrap(MST_STRING, MST_SHAPE(2), first, NULL, NULL, &feed.tensor));
    EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &output));
    expect_strings(output, MST_SHAPE(2), first);
    mst_tensor_release(feed.tensor);
    feed.tensor = output;
    EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &output));
    expect_strings(output, MST_SHAPE(2), first);
    mst_tensor_release(output);
    engine_end(g, session);
}

static void equal_string_constants_are_merged(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_STRING, MST_SCALAR, "x");
    mst_value a = mst_string_scalar(g, "the same"), b = mst_string_scalar(g, "the same");
    mst_value c = mst_string_scalar(g, "the name"), all = mst_stack((mst_value[]){x, a, b, c}, 4, 0);
    char *text;
    size_t size;
    FILE *log = open_memstream(&text, &size);
    assert_non_null(log);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.plan_log = log, .plan_pass = "simplify"}, &session));
    mst_feed feed = {.value = x, .tensor = strings(MST_SCALAR, &BYTES("x"))};
    mst_tensor *output = engine_fetch(session, &feed, 1, all);
    fclose(log);
    if (!strstr(text, "stack(x, constant, constant, constant_2)")) fail_msg("constants differ in %s", text);
    expect_strings(output, MST_SHAPE(4),
                   (mst_string[]){BYTES("x"), BYTES("the same"), BYTES("the same"), BYTES("the name")});
    free(text);
    mst_tensor_release(output);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void constants_are_folded(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_string_scalar(g, "the same"), b = mst_string_scalar(g, "the same");
    mst_value c = mst_string_scalar(g, "the name");
    mst_value all = mst_stack((mst_value[]){a, b, c}, 3, 0), folded = mst_equal(all, b);
    mst_value shifted = mst_strided_slice(.src = mst_tile(all, MST_SHAPE(2)), .begin = MST_AXES(1), .end = MST_AXES(4));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *output[2] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){folded, shifted}, 2, output));
    for (int i = 0; i < 3; i++) assert_true((mst_tensor_get(output[0], i) != 0) == (i < 2));
    expect_strings(output[1], MST_SHAPE(3), (mst_string[]){BYTES("the same"), BYTES("the name"), BYTES("the same")});
    assert_int_equal(mst_session_plan_info(session).nodes, 0);
    mst_tensor_release(output[0]);
    mst_tensor_release(output[1]);
    engine_end(g, session);
}

static void constant_that_would_be_too_large_is_made_in_the_step(void **state) {
    (void)state;
    enum { LONG = 1 << 20, TIMES = 1 << 14 }; /* 16 GiB of bytes, which are there once */
    char *text = calloc(1, LONG);
    assert_non_null(text);
    mst_graph *g = engine_graph();
    mst_value one = mst_string_values(g, MST_SHAPE(1), &(mst_string){text, LONG});
    mst_value many = mst_tile(one, MST_SHAPE(TIMES)), some = mst_slice(many, MST_SHAPE(7), MST_SHAPE(1));
    mst_value same = mst_equal(mst_slice(mst_reshape(many, MST_SHAPE(2, TIMES / 2)), MST_SHAPE(1, 0), MST_SHAPE(1, 2)),
                               mst_reshape(one, MST_SHAPE(1, 1)));
    mst_session *session = engine_session(g, "cpu:1/1");
    mst_tensor *output[2] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){some, same}, 2, output));
    expect_strings(output[0], MST_SHAPE(1), &(mst_string){text, LONG});
    for (int i = 0; i < 2; i++) assert_true(mst_tensor_get(output[1], i) != 0);
    for (int i = 0; i < 2; i++) mst_tensor_release(output[i]);
    engine_end(g, session);
    free(text);
}

static void step_that_fails_leaves_the_next_as_it_is(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_STRING, MST_SHAPE(-1), "x"), i = mst_placeholder(g, MST_I32, MST_SCALAR, "i");
    mst_value y = MST_NONE;
    mst_with_device (g, "/cpu:1") y = mst_gather(x, i, 0);
    mst_session *session = soft_session(g, "cpu:2/1");
    mst_feed feeds[] = {{.value = x, .tensor = strings(MST_SHAPE(2), (mst_string[]){BYTES("a"), BYTES("b")})},
                        {.value = i, .tensor = engine_tensor(MST_I32, MST_SCALAR, (double[]){2})}};
    EXPECT_ERROR(mst_session_run(session, feeds, 2, &y, 1, NULL), MST_INVALID, "index 2");
    mst_tensor_set(feeds[1].tensor, 0, 1);
    mst_tensor *output = engine_fetch(session, feeds, 2, y);
    expect_strings(output, MST_SCALAR, &BYTES("b"));
    mst_tensor_release(output);
    for (int k = 0; k < 2; k++) mst_tensor_release(feeds[k].tensor);
    engine_end(g, session);
}

/* ---- several steps in flight ---- */

enum { THREADS = 4, RUNS = 50 };

typedef struct caller {
    const relay *relay;
    int number, wrong;
} caller;

static void *call(void *context) {
    caller *c = context;
    for (int i = 0; i < RUNS; i++) {
        char text[3][64];
        mst_string fed[3];
        for (int k = 0; k < 3; k++) {
            snprintf(text[k], sizeof text[k], "thread %d, run %d, string %d%*s", c->number, i, k, i % 20, "");
            fed[k] = mst_string_of(text[k]);
        }
        mst_tensor *output[2] = {NULL}, *x;
        if (mst_tensor_copy(MST_STRING, MST_SHAPE(3), fed, &x)) c->wrong++;
        const mst_feed feed = {.value = c->relay->x, .tensor = x};
        const mst_value fetches[] = {c->relay->w, c->relay->z};
        if (mst_session_run(c->relay->session, &feed, 1, fetches, 2, output)) c->wrong++;
        if (!mst_string_equal(mst_tensor_get_string(output[0], 0), fed[2])) c->wrong++;
        if (!mst_string_equal(mst_tensor_get_string(output[1], 1), fed[0])) c->wrong++;
        for (int k = 0; k < 2; k++) mst_tensor_release(output[k]);
        mst_tensor_release(x);
    }
    return NULL;
}

static void steps_in_flight_have_strings_of_their_own(void **state) {
    (void)state;
    for (int p = 0; p < NUM_PLACES; p++) {
        relay r = relay_begin(places[p].devices, places[p].one, places[p].other, 0);
        pthread_t thread[THREADS];
        caller callers[THREADS];
        for (int i = 0; i < THREADS; i++) {
            callers[i] = (caller){.relay = &r, .number = i};
            assert_int_equal(pthread_create(&thread[i], NULL, call, &callers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            assert_int_equal(callers[i].wrong, 0);
        }
        engine_end(r.graph, r.session);
    }
}

/* ---- errors ---- */

/* The first example that can be built, with source WHICH of DTYPE; false where there is none. */
static bool expect_refused(const mst_op *op, int which, mst_dtype dtype) {
    for (int k = 0; k < op->num_examples; k++) {
        const mst_example *example = &op->examples[k];
        mst_value src[MST_EXAMPLE_SRC];
        if (example->fails || which >= example->num_src) continue;
        mst_graph *g = engine_graph();
        for (int i = 0; i < example->num_src; i++) {
            mst_dtype usual = example->src[i].dtype;
            for (int d = 1; !usual; d++)
                if ((example->dtypes ? example->dtypes : op->dtypes) & MST_DTYPE_BIT(d)) usual = (mst_dtype)d;
            src[i] = mst_placeholder(g, i == which ? dtype : usual,
                                     mst_shape_make(example->src[i].ndim, example->src[i].dim));
        }
        char *options = calloc(1, op->options_size + 1);
        assert_non_null(options);
        mst_call(g, op, example->num_src, src, example->options ? example->options : options);
        free(options);
        if (mst_graph_check(g) != MST_INVALID)
            fail_msg("%s takes %s as source %d", op->name, mst_dtype_name(dtype), which);
        if (!strstr(mst_error()->message, op->name) || !strstr(mst_error()->message, mst_dtype_name(dtype)))
            fail_msg("%s: '%s' does not name op and dtype", op->name, mst_error()->message);
        mst_graph_destroy(g);
        return true;
    }
    return false;
}

static void check_refusals(mst_dtype dtype) {
    const mst_op *op;
    int refused = 0;
    for (int i = 0; (op = mst_op_at(i)); i++) {
        if (op->dtypes & MST_DTYPE_BIT(dtype) || op->flags & MST_OP_NO_VALUE) continue;
        for (int which = 0; which < MST_EXAMPLE_SRC; which++)
            if (!(op->shape_only >> which & 1u)) refused += expect_refused(op, which, dtype);
    }
    assert_true(refused > 100);
}

static void ops_that_do_not_know_strings_or_bf16_refuse_them(void **state) {
    (void)state;
    check_refusals(MST_STRING);
    check_refusals(MST_BF16);
}

static void expect_graph_error(mst_graph *g, const char *text) {
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, text);
    mst_graph_destroy(g);
}

static void strings_where_only_numbers_can_be_are_errors(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_variable(g, "v", mst_string_scalar(g, "x"));
    expect_graph_error(g, "variable 'v': output 0 would be string, which variable does not give");
    g = engine_graph();
    mst_scalar(g, MST_STRING, 1);
    expect_graph_error(g, "numbers cannot be string: use mst_string_values");
    g = engine_graph();
    mst_cast(mst_scalar(g, MST_F32, 1), MST_STRING);
    expect_graph_error(g, "would be string, which cast does not give");
    g = engine_graph();
    mst_value x = mst_string_scalar(g, "x"), slope;
    mst_gradients(mst_identity(x), &x, 1, &slope);
    expect_graph_error(g, "is string");
    g = engine_graph();
    mst_equal(mst_string_scalar(g, "1"), mst_scalar(g, MST_F32, 1));
    expect_graph_error(g, "dtypes string and f32 differ");

    mst_tensor *tensor = strings(MST_SHAPE(1), &BYTES("x"));
    mst_store *store;
    mst_snapshot *snapshot;
    mst_dataset *dataset;
    EXPECT_OK(mst_store_create(&store));
    EXPECT_ERROR(mst_store_set(store, NULL, "s", MST_STATE_WEIGHT, tensor), MST_INVALID, "'s' is string");
    EXPECT_OK(mst_snapshot_create(&snapshot));
    EXPECT_ERROR(mst_snapshot_add(snapshot, NULL, "s", MST_STATE_WEIGHT, tensor), MST_INVALID, "'s' is string");
    mst_tensor *rows = engine_tensor(MST_F32, MST_SHAPE(2, 1), NULL);
    EXPECT_OK(mst_dataset_from_tensors(&rows, 1, &dataset));
    mst_dataset *other;
    EXPECT_ERROR(mst_dataset_scale(dataset, 0, MST_STRING, 1, &other), MST_INVALID, "cannot become string");
    mst_dataset_release(dataset);
    mst_tensor_release(rows);
    mst_snapshot_release(snapshot);
    mst_store_release(store);
    mst_tensor_release(tensor);
}

/* Row i is the string i of the context, an array. */
static mst_status fill(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    assert_int_equal(spec->dtype, MST_STRING);
    memcpy(dst, (const mst_string *)context + first_row, (size_t)spec->shape.dim[0] * sizeof(mst_string));
    return MST_OK;
}

static void a_function_feeds_strings(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_STRING, MST_SHAPE(-1), .name = "x"), y = mst_identity(x);
    mst_session *session = engine_session(g, NULL);
    const mst_string words[] = {BYTES("one"), BYTES("zero\0inside"), BYTES("")},
                     others[] = {BYTES("a"), BYTES("longer")};
    for (int i = 0; i < 4; i++) {
        const int64_t count = i % 2 ? 2 : 3;
        const mst_string *wanted = i % 2 ? others : words;
        mst_tensor *output = NULL;
        const mst_feed feed = {.value = x,
                               .fill = fill,
                               .context = (void *)(uintptr_t)wanted,
                               .spec = {.dtype = MST_STRING, .shape = MST_SHAPE(count)},
                               .grain = 1};
        EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &output));
        assert_int_equal(mst_tensor_count(output), count);
        for (int64_t k = 0; k < count; k++) assert_true(mst_string_equal(mst_tensor_get_string(output, k), wanted[k]));
        mst_tensor_release(output);
    }
    engine_end(g, session);
}

static void feeds_of_strings_are_strings(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_STRING, MST_SHAPE(1), "x"), y = mst_identity(x);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed;
    mst_string broken = {NULL, 3};
    feed = (mst_feed){.value = x};
    EXPECT_OK(mst_tensor_wrap(MST_STRING, MST_SHAPE(1), &broken, NULL, NULL, &feed.tensor));
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_INVALID, "the feed of 'x': tensor: string 0 has");
    mst_tensor_release(feed.tensor);
    feed = (mst_feed){.value = x, .tensor = engine_tensor(MST_I64, MST_SHAPE(1), NULL)};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_INVALID, "is i64[1], must be string[1]");
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(string_constant_is_fetched_from_any_device),
        cmocka_unit_test(strings_go_from_device_to_device),
        cmocka_unit_test(memory_of_received_strings_is_used_again),
        cmocka_unit_test(strings_over_the_memory_limit_fail_the_step_alone),
        cmocka_unit_test(outputs_are_written_in_place_where_they_can_be),
        cmocka_unit_test(equal_string_constants_are_merged),
        cmocka_unit_test(constants_are_folded),
        cmocka_unit_test(constant_that_would_be_too_large_is_made_in_the_step),
        cmocka_unit_test(steps_in_flight_have_strings_of_their_own),
        cmocka_unit_test(step_that_fails_leaves_the_next_as_it_is),
        cmocka_unit_test(ops_that_do_not_know_strings_or_bf16_refuse_them),
        cmocka_unit_test(strings_where_only_numbers_can_be_are_errors),
        cmocka_unit_test(a_function_feeds_strings),
        cmocka_unit_test(feeds_of_strings_are_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
