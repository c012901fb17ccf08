/* A session that makes plans without end takes only the memory of the plans that it keeps. */
#include <malloc.h>

#include "support/test.h"

/* Runs with a batch of SIZE rows: a plan of its own. */
static void run(mst_session *session, mst_value x, mst_value fetch, int64_t size) {
    mst_tensor *rows = engine_tensor(MST_F32, MST_SHAPE(size, 8), NULL);
    mst_tensor_release(engine_fetch(session, &(mst_feed){.value = x, .tensor = rows}, 1, fetch));
    mst_tensor_release(rows);
}

/* Products are made by a library that keeps what it made before. */
static void session_does_not_grow_with_the_plans_it_has_made(void **state) {
    (void)state;
    enum { FIRST = 200, PLANS = 1000, MOST_BYTES = 2 << 20 };
    mst_graph *g = engine_graph();
    const mst_value x = engine_input(g, "x", MST_SHAPE(-1, 8));
    const mst_value w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(8, 8), 0.5));
    const mst_value y = mst_reduce_mean(mst_relu(mst_matmul(x, w)));
    mst_session *session = engine_session(g, NULL);
    size_t before = 0;
    for (int64_t i = 0; i < FIRST + PLANS; i++) {
        if (i == FIRST) before = mallinfo2().uordblks;
        run(session, x, y, 1 + i);
    }
    const size_t after = mallinfo2().uordblks;
    if (after > before + MOST_BYTES) fail_msg("%d plans took %zu kB", PLANS, (after - before) / 1024);
    assert_int_equal(mst_session_num_plans(session), FIRST + PLANS + 1);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_does_not_grow_with_the_plans_it_has_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
