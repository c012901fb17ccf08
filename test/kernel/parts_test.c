/* Ops that threads of a device share: the same bits from any number of threads. */
#include <string.h>

#include "support/test.h"

enum { ROWS = 301, COLUMNS = 257, MAX_SRC = 3 };

/* How the sources of a binary op broadcast. */
static const mst_shape second_shapes[] = {{.ndim = 2, .dim = {ROWS, COLUMNS}}, {.ndim = 1, .dim = {COLUMNS}},
                                          {.ndim = 2, .dim = {ROWS, 1}},       {.ndim = 2, .dim = {1, COLUMNS}},
                                          {.ndim = 2, .dim = {1, 1}},          {.ndim = 0}};
enum { NUM_SHAPES = sizeof second_shapes / sizeof *second_shapes };

static mst_shape source_shape(const mst_op *op, int i, mst_shape second) {
    /* only ops of two sources broadcast; of those the second here, and the first of swapped ones */
    return op->num_src == 2 && i == 1 ? second : second_shapes[0];
}

static mst_tensor *value_on(const mst_op *op, const mst_example *example, mst_dtype dtype, mst_shape second, bool swap,
                            const char *devices) {
    mst_graph *g = engine_graph();
    mst_value src[MAX_SRC];
    mst_feed feed[MAX_SRC];
    for (int i = 0; i < op->num_src; i++) {
        int place = swap ? op->num_src - 1 - i : i;
        mst_shape shape = source_shape(op, i, second);
        mst_dtype its = example->src[place].dtype ? example->src[place].dtype : dtype;
        mst_tensor *tensor =
            engine_random(its, shape, its == MST_BOOL ? 0 : -2, its == MST_BOOL ? 1.99 : 2, 7U + (unsigned)i);
        src[place] = mst_placeholder(g, its, shape, "x");
        feed[place] = (mst_feed){.value = src[place], .tensor = tensor};
    }
    mst_value y = mst_call(g, op, op->num_src, src, example->options);
    mst_tensor *out = NULL;
    mst_session *session = engine_session(g, devices);
    EXPECT_OK(mst_session_run(session, feed, op->num_src, &y, 1, &out));
    for (int i = 0; i < op->num_src; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    return out;
}

static void check(const mst_op *op, mst_dtype dtype, mst_shape second, bool swap) {
    const mst_example *example = &op->examples[0];
    mst_tensor *one = value_on(op, example, dtype, second, swap, "cpu:1/1");
    for (int threads = 2; threads <= 5; threads += 3) {
        char devices[16];
        snprintf(devices, sizeof devices, "cpu:1/%d", threads);
        mst_tensor *many = value_on(op, example, dtype, second, swap, devices);
        if (!engine_same_bits(one, many))
            fail_msg("%s %s: %d threads give other bits", op->name, mst_dtype_name(dtype), threads);
        mst_tensor_release(many);
    }
    mst_tensor_release(one);
}

static void elementwise_ops_give_the_bits_of_one_thread_on_any_number(void **state) {
    (void)state;
    const mst_op *op;
    int checked = 0;
    for (int i = 0; (op = mst_op_at(i)); i++) {
        if (!(op->flags & MST_OP_ELEMENTWISE) || op->num_src < 1 || op->num_src > MAX_SRC) continue;
        for (mst_dtype dtype = MST_F32; dtype <= MST_F64; dtype++) {
            if (!(op->dtypes & MST_DTYPE_BIT(dtype))) continue;
            checked++;
            check(op, dtype, second_shapes[0], false);
            bool broadcasts = op->infer == mst_find_op("add")->infer || op->infer == mst_find_op("equal")->infer;
            for (int k = 1; k < NUM_SHAPES && broadcasts; k++)
                for (int swap = 0; swap < 2; swap++) check(op, dtype, second_shapes[k], swap);
        }
    }
    assert_true(checked > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_ops_give_the_bits_of_one_thread_on_any_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
