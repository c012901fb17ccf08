/* Every example of every op that has StableHLO, dtype by dtype, as a program of one op: the interpreter's results
 * against those of the reference kernel. Integers and bools must be the same, floats within the tolerance of the
 * example. Where the kernel fails on the values, the word of faults must not be 0.
 *
 * With MUSTER_HLO_FOLDER, another interpreter can check the same programs (support/hlo_folder.h). MUSTER_HLO_OP: only
 * this op. */
#include <stdlib.h>

#include "graph/graph.h"
#include "support/hlo_folder.h"
#include "support/test.h"

/* Ops without StableHLO, and why. They run on the CPU of their task, or a session carries them out itself. */
static const struct {
    const char *op, *reason;
} on_host[] = {
    {"apply_gradients", "the plan makes updates of it"},
    {"batch_norm_add", "only plans for CPU kernels have it"},
    {"batch_norm_grad_sums", "only plans for CPU kernels have it"},
    {"batch_norm_statistics", "only plans for CPU kernels have it"},
    {"conv2d_grads", "only plans for CPU kernels have it"},
    {"conv2d_statistics", "only plans for CPU kernels have it"},
    {"fused_batch_norm", "only plans for CPU kernels have it"},
    {"fused_batch_norm_grad", "only plans for CPU kernels have it"},
    {"fused_conv2d", "only plans for CPU kernels have it"},
    {"fused_matmul", "only plans for CPU kernels have it"},
    {"group", "a session orders nodes by it"},
    {"leaf_rows", "the plan makes sums of rows of it"},
    {"lookup", "look-ups of words are made on the host"},
    {"max_pool2d_relu_grad", "only plans for CPU kernels have it"},
    {"no_op", "a session orders nodes by it"},
    {"normalized_conv2d", "only plans for CPU kernels have it"},
    {"normalized_conv2d_weights_grad", "only plans for CPU kernels have it"},
    {"orthonormalize", "initial values are made on the host"},
    {"placeholder", "a session puts the feed in its place"},
    {"string_to_hash_bucket_fast", "strings are on the host"},
    {"text_to_hashes", "strings are on the host"},
    {"variable", "a session puts the stored value in its place"},
};

enum { MOST_OPS = 512, NUM_ON_HOST = sizeof on_host / sizeof *on_host };

static int failures, programs;

static double tolerance_of(const op_case *c) {
    if (c->example->tolerance > 0) return c->example->tolerance;
    for (int k = 0; k < c->num_dst; k++)
        if (c->out.node->dst[k].dtype == MST_F32) return 1e-5;
    return 1e-10;
}

static void check(op_case *c) {
    hlo_case h;
    if (op_case_build(c, OP_FED)) return; /* an example of an error when building, or a variant that cannot be */
    if (hlo_case_begin(&h, c)) {
        print_error("%s: %s\n", c->label, mst_error()->message);
        failures++;
    } else {
        programs++;
        h.tolerance = tolerance_of(c);
        failures += !hlo_case_agrees(&h);
        hlo_folder_keep(&h);
    }
    hlo_case_end(&h);
}

static void check_example(const mst_op *op, const mst_example *example) {
    bool is_open = false;
    for (int i = 0; i < example->num_src; i++) is_open |= !example->src[i].dtype;
    for (int d = MST_F32; d < MST_NUM_DTYPES; d++) {
        if (d == MST_STRING || (is_open ? !(op_case_dtypes(op, example) & MST_DTYPE_BIT(d)) : d != MST_F32)) continue;
        for (int variant = OP_AS_GIVEN; variant < OP_NUM_VARIANTS; variant++) {
            op_case c;
            if (variant != OP_AS_GIVEN && (example->fails || (d != MST_F32 && d != MST_I32))) continue;
            op_case_begin(&c, op, example, (mst_dtype)d, (op_variant)variant);
            check(&c);
            op_case_end(&c);
        }
    }
}

static void test_examples(void **state) {
    (void)state;
    const char *only = getenv("MUSTER_HLO_OP");
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        if ((!op->hlo && !op->lower) || (only && strcmp(only, op->name) != 0)) continue;
        for (int k = 0; k < op->num_examples; k++) check_example(op, &op->examples[k]);
    }
    hlo_folder_end();
    print_message("%d programs\n", programs);
    assert_int_equal(failures, 0);
    assert_true(programs > 0);
}

static void test_an_op_has_stablehlo_or_is_the_hosts(void **state) {
    (void)state;
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        int listed = 0;
        for (int k = 0; k < NUM_ON_HOST; k++) listed += strcmp(on_host[k].op, op->name) == 0;
        if (listed == !(op->hlo || op->lower)) continue;
        print_error("%s %s\n", op->name,
                    listed ? "is listed here as an op of the host, and has StableHLO"
                           : "has neither .hlo nor .lower, and is not listed here as an op of the host");
        failures++;
    }
    for (int k = 0; k < NUM_ON_HOST; k++)
        if (!mst_find_op(on_host[k].op)) {
            print_error("%s, listed here, is no op\n", on_host[k].op);
            failures++;
        }
    assert_int_equal(failures, 0);
}

/* ---- what products ask for ---- */

/* Ops that write products of f32. */
static const char *const with_products[] = {"cached_attention",
                                            "conv2d",
                                            "conv2d_src_grad",
                                            "conv2d_transpose",
                                            "conv2d_weights_grad",
                                            "conv3d",
                                            "conv3d_transpose",
                                            "gru",
                                            "gru_grad",
                                            "lstm",
                                            "lstm_grad",
                                            "matmul",
                                            "scaled_dot_product_attention",
                                            "scaled_dot_product_attention_grad",
                                            "simple_rnn",
                                            "simple_rnn_grad"};
enum { WITH_PRODUCTS = sizeof with_products / sizeof *with_products };

static bool has_products(const mst_op *op) {
    bool found = false;
    for (int k = 0; k < WITH_PRODUCTS; k++) found |= strcmp(with_products[k], op->name) == 0;
    return found;
}

/* The number of words that ask for another precision, in all examples of OP. */
static int expect_rounded(const mst_op *op) {
    int words = 0;
    for (int k = 0; k < op->num_examples; k++) {
        op_case c;
        op_case_begin(&c, op, &op->examples[k], MST_F32, OP_AS_GIVEN);
        if (op_case_dtypes(op, c.example) & MST_DTYPE_BIT(MST_F32) && !op_case_build(&c, OP_FED))
            words += hlo_case_expect_rounded(c.label, c.out.node, c.value);
        op_case_end(&c);
    }
    return words;
}

static void test_products_that_may_be_rounded_differ_in_what_they_ask_for(void **state) {
    (void)state;
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        if (!op->hlo && !op->lower) continue;
        const int words = expect_rounded(op);
        if ((words > 0) == has_products(op)) continue;
        print_error("%s: %d words of precision\n", op->name, words);
        failures++;
    }
    assert_int_equal(failures, 0);
}

/* The precision of the op, PRECISION, counts, and not that of the session, OTHER: the text has WORD, and not NONE. */
static void expect_own(const mst_op *op, size_t offset, mst_precision precision, mst_precision other, const char *word,
                       const char *none) {
    mst_example example = op->examples[0];
    char *options = calloc(1, op->options_size);
    assert_non_null(options);
    if (example.options) memcpy(options, example.options, op->options_size);
    memcpy(options + offset, &(int32_t){(int32_t)precision}, sizeof(int32_t));
    example.options = options;
    op_case c;
    hlo_case h = {.precision = other};
    op_case_begin(&c, op, &example, MST_F32, OP_AS_GIVEN);
    EXPECT_OK(op_case_build(&c, OP_FED));
    EXPECT_OK(hlo_case_write(&h, c.out.node, c.value));
    if (!strstr(h.text, word) || strstr(h.text, none)) fail_msg("%s, %s:\n%s", c.label, word, h.text);
    hlo_case_end(&h);
    op_case_end(&c);
    free(options);
}

static void test_an_op_may_have_a_precision_of_its_own(void **state) {
    static const char *const highest = "<precision HIGHEST>", *const lowest = "<precision DEFAULT>";
    int count = 0;
    (void)state;
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        const mst_field *field = op->fields;
        while (field && field->name && strcmp(field->name, "precision") != 0) field++;
        if (!op->lower || !field || !field->name) continue;
        expect_own(op, field->offset, MST_TENSORFLOAT32, MST_FLOAT32, lowest, highest);
        expect_own(op, field->offset, MST_FLOAT32, MST_TENSORFLOAT32, highest, lowest);
        count++;
    }
    assert_int_equal(count, 7); /* the matrix product, and the convolutions and gradients above */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_an_op_has_stablehlo_or_is_the_hosts),
        cmocka_unit_test(test_products_that_may_be_rounded_differ_in_what_they_ask_for),
        cmocka_unit_test(test_an_op_may_have_a_precision_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
