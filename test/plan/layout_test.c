/* Constants are kept in the layout that the kernel reads, which depends on the processor. */
#include <stdlib.h>

#include "support/test.h"

static int count_of(const char *text, const char *what) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) count++;
    return count;
}

typedef struct shape {
    int64_t m, k, n;
    bool transpose_b;
} shape;

/* Parts along columns, along rows with a smaller last one, and one part. */
static const shape shapes[] = {{100, 784, 500, false}, {2000, 300, 120, false}, {1999, 300, 120, true},
                               {7, 400, 130, true},    {1, 512, 512, false},    {64, 1024, 1000, true}};

static void product_of_a_constant_has_the_bits_of_that_of_a_fed_matrix(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:1/2", "island:1/1"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
            const shape *p = &shapes[i];
            mst_graph *g = engine_graph();
            const mst_shape form = p->transpose_b ? MST_SHAPE(p->n, p->k) : MST_SHAPE(p->k, p->n);
            mst_tensor *b = engine_random(MST_F32, form, -1, 1, 5);
            mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(p->m, p->k), "x"),
                      w = mst_placeholder(g, MST_F32, form, "w"),
                      y = mst_relu(mst_matmul(x, mst_constant(g, b), .transpose_b = p->transpose_b)),
                      z = mst_relu(mst_matmul(x, w, .transpose_b = p->transpose_b));
            mst_feed feed[] = {{.value = x, .tensor = engine_random(MST_F32, MST_SHAPE(p->m, p->k), -1, 1, 6)},
                               {.value = w, .tensor = b}};
            mst_session *session;
            EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = devices[d]}, &session));
            mst_tensor *packed = engine_fetch(session, feed, 2, y), *plain = engine_fetch(session, feed, 2, z);
            if (!engine_same_bits(packed, plain))
                fail_msg("product %d on %s: off by %g", (int)i, devices[d], engine_distance(packed, plain));
            mst_tensor_release(packed);
            mst_tensor_release(plain);
            mst_tensor_release(feed[0].tensor);
            mst_tensor_release(b);
            engine_end(g, session);
        }
}

/* The plan of a fetch, as its log shows it after all passes. */
static char *plan_of(mst_graph *g, const mst_feed *feed, const char *devices, mst_value fetch) {
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = devices, .plan_log = file}, &session));
    mst_tensor_release(engine_fetch(session, feed, 1, fetch));
    mst_session_destroy(session);
    fclose(file);
    char *last = log;
    for (char *at = log; (at = strstr(at, "after ")); at++) last = at;
    memmove(log, last, strlen(last) + 1);
    return log;
}

static void packed_constant_takes_the_place_of_the_plain_one(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_tensor *b = engine_random(MST_F32, MST_SHAPE(300, 120), -1, 1, 5);
    mst_feed feed = {.value = mst_placeholder(g, MST_F32, MST_SHAPE(2000, 300), "x"),
                     .tensor = engine_random(MST_F32, MST_SHAPE(2000, 300), -1, 1, 6)};
    mst_value w = mst_constant(g, b), x = feed.value;
    mst_value twice = mst_add(mst_matmul(x, w), mst_matmul(mst_neg(x), w));
    /* two products share one, and what else reads the constant still has it */
    const struct {
        mst_value fetch;
        int packed, plain;
    } cases[] = {
        {mst_matmul(x, w), 1, 0}, {twice, 1, 0}, {mst_add(twice, mst_reduce_sum(mst_mul(w, mst_reduce_sum(x)))), 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *log = plan_of(g, &feed, "cpu:1/1", cases[i].fetch);
        const int packed = count_of(log, " : u8["), plain = count_of(log, "} : f32[300, 120]");
        const bool blocks = engine_onednn_wants_blocks();
        if (packed != (blocks ? cases[i].packed : 0) || plain != (blocks ? cases[i].plain : 1))
            fail_msg("case %d: %d packed and %d plain in\n%s", (int)i, packed, plain, log);
        free(log);
    }
    mst_tensor_release(b);
    mst_tensor_release(feed.tensor);
    mst_graph_destroy(g);
}

static void small_and_written_factors_stay_as_they_are(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_tensor *b = engine_random(MST_F32, MST_SHAPE(64, 64), -1, 1, 5);
    mst_feed feed = {.value = mst_placeholder(g, MST_F32, MST_SHAPE(100, 64), "x"),
                     .tensor = engine_random(MST_F32, MST_SHAPE(100, 64), -1, 1, 6)};
    char *log = plan_of(g, &feed, "cpu:1/1", mst_matmul(feed.value, mst_constant(g, b)));
    assert_int_equal(count_of(log, " : u8["), 0);
    free(log);
    mst_tensor_release(b);
    mst_tensor_release(feed.tensor);
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_of_a_constant_has_the_bits_of_that_of_a_fed_matrix),
        cmocka_unit_test(packed_constant_takes_the_place_of_the_plain_one),
        cmocka_unit_test(small_and_written_factors_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
