/* Values that are computed again instead of being kept: the bits are the same, and a step takes less memory. */
#include <string.h>

#include "support/test.h"

enum { ROWS = 256, NUM_BLOCKS = 12, NUM_WEIGHTS = 2 * NUM_BLOCKS, NUM_FETCHES = NUM_WEIGHTS + 3 };

typedef struct run {
    mst_tensor *fetched[NUM_FETCHES];
    int64_t bytes;
    char *log;
} run;

/* Residual blocks with random numbers in them; of NUM_SHARDS shards, each on a device of its own where there are as
 * many. Fetched are the loss, a value in the middle, the gradients of the source and of all weights. */
static mst_value block(mst_value x, mst_value weights, mst_value more, int number) {
    const mst_value h = mst_relu(mst_matmul(x, weights)), g = mst_softmax(mst_matmul(h, more));
    const mst_value factor = number % 4 == 1 ? engine_count_stateful(g) : g; /* once a step */
    const mst_value dropped = mst_dropout(mst_mul(g, factor), .rate = 0.25);
    return number % 3 == 2 ? dropped : mst_add(x, dropped);
}

static mst_value shard_loss(mst_value x, const mst_value *weights, mst_value *middle) {
    for (int i = 0; i < NUM_BLOCKS; i++) {
        x = block(x, weights[2 * i], weights[2 * i + 1], i);
        if (i == NUM_BLOCKS / 2) *middle = x;
    }
    return mst_reduce_sum(mst_square(x));
}

static run run_blocks(const char *devices, int num_shards, bool recompute) {
    run r = {0};
    size_t size;
    mst_session *session;
    mst_graph *g = engine_graph();
    mst_value weights[NUM_WEIGHTS + 1], fetch[NUM_FETCHES], shard[4], middle = {0};
    mst_feed feed[NUM_WEIGHTS + 1];
    for (int i = 0; i <= NUM_WEIGHTS; i++) {
        const mst_shape shape = i == NUM_WEIGHTS ? MST_SHAPE(ROWS, 48) : i % 2 ? MST_SHAPE(96, 48) : MST_SHAPE(48, 96);
        weights[i] = engine_input(g, NULL, shape);
        feed[i] = (mst_feed){.value = weights[i], .tensor = engine_random(MST_F32, shape, -0.2, 0.4, 3 + (unsigned)i)};
    }
    for (int s = 0; s < num_shards; s++) {
        const char *const names[] = {"/device:CPU:0", "/device:CPU:1"};
        const char *name = strcmp(devices, "cpu:2/2") == 0 ? names[s % 2] : names[0];
        mst_with_device (g, name) {
            const mst_value rows =
                mst_slice(weights[NUM_WEIGHTS], MST_SHAPE(ROWS / num_shards * s, 0), MST_SHAPE(ROWS / num_shards, 48));
            shard[s] = shard_loss(rows, weights, &middle);
        }
    }
    fetch[0] = mst_add_n(shard, num_shards);
    fetch[1] = middle;
    mst_gradients(fetch[0], weights, NUM_WEIGHTS + 1, &fetch[2]);
    FILE *log = open_memstream(&r.log, &size);
    const mst_session_options options = {
        .devices = devices, .recompute = recompute, .plan_log = log, .plan_pass = "recompute"};
    EXPECT_OK(mst_session_create(g, &options, &session));
    EXPECT_OK(mst_session_run(session, feed, NUM_WEIGHTS + 1, fetch, NUM_FETCHES, r.fetched));
    assert_int_equal(engine_counted(), NUM_BLOCKS / 4 * num_shards);
    r.bytes = mst_session_plan_info(session).arena_bytes;
    for (int i = 0; i <= NUM_WEIGHTS; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    fclose(log);
    return r;
}

static int count(const char *text, const char *word) {
    int found = 0;
    while ((text = strstr(text, word))) found++, text++;
    return found;
}

static void expect_same_with_less(const char *devices, int num_shards) {
    run kept = run_blocks(devices, num_shards, false), again = run_blocks(devices, num_shards, true);
    for (int i = 0; i < NUM_FETCHES; i++)
        if (!engine_same_bits(kept.fetched[i], again.fetched[i]))
            fail_msg("%s, %d shards: fetch %d is off by %g", devices, num_shards, i,
                     engine_distance(kept.fetched[i], again.fetched[i]));
    if (10 * again.bytes > 7 * kept.bytes)
        fail_msg("%s, %d shards: %lld bytes of %lld", devices, num_shards, (long long)again.bytes,
                 (long long)kept.bytes);
    /* no shard computes more than once again what it has computed */
    const int before = count(kept.log, " = dropout("), after = count(again.log, " = dropout(");
    assert_true(after > before && after <= 2 * before);
    for (int i = 0; i < NUM_FETCHES; i++) {
        mst_tensor_release(kept.fetched[i]);
        mst_tensor_release(again.fetched[i]);
    }
    free(kept.log);
    free(again.log);
}

static void bits_are_the_same_in_less_memory(void **state) {
    (void)state;
    expect_same_with_less("cpu:1/1", 1);
    expect_same_with_less("cpu:1/2", 2);
    expect_same_with_less("cpu:2/2", 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_the_same_in_less_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
