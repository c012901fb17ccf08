/* The pass halve: with products in bf16, what a GPT keeps for its backward pass takes about half of the memory, and the
 * training is nearly the same. */
#include <math.h>

#include "support/test.h"

enum { POSITIONS = 64, BATCH = 32, VOCABULARY = 50, STEPS = 3 };

typedef struct trained {
    double loss;
    int64_t bytes;
} trained;

static trained train(bool llama, mst_precision precision, const char *devices, bool recompute) {
    mst_tensor *tokens[2];
    mst_dataset *data;
    mst_model *model;
    mst_result result;
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(BATCH, POSITIONS), &tokens[i]));
        for (int64_t k = 0; k < BATCH * POSITIONS; k++)
            mst_tensor_set(tokens[i], k, (double)((k + i) * (k + i) % VOCABULARY));
    }
    EXPECT_OK(mst_dataset_from_tensors(tokens, 2, &data));
    EXPECT_OK(mst_model_create(&model));
    mst_gpt(model, .layers = 8, .width = 64, .heads = 4, .vocabulary_size = VOCABULARY, .positions = POSITIONS,
            .llama = llama);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1),
                          .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, .precision = precision,
                          .strategy = {.num_shards = 2}, .session = {.devices = devices, .recompute = recompute},
                          .seed = 1));
    EXPECT_OK(mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = BATCH, .steps = STEPS}, &result));
    const trained done = {result.loss, mst_session_device_memory(mst_model_session(model), 0)};
    mst_model_destroy(model);
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(tokens[i]);
    return done;
}

static void check(bool llama) {
    if (mst_precision_here(MST_MIXED_BFLOAT16) != MST_MIXED_BFLOAT16) {
        print_message("skip: this processor has no instructions for bf16\n");
        skip();
    }
    const trained whole = train(llama, MST_FLOAT32, "cpu:1/1", false),
                  half = train(llama, MST_MIXED_BFLOAT16, "cpu:1/1", false);
    if ((double)half.bytes > 0.72 * (double)whole.bytes)
        fail_msg("%lld bytes, in f32 %lld", (long long)half.bytes, (long long)whole.bytes);
    if (fabs(half.loss - whole.loss) > 0.01 * whole.loss) fail_msg("loss %g, in f32 %g", half.loss, whole.loss);
    assert_true(half.loss != whole.loss);
    assert_true(train(llama, MST_MIXED_BFLOAT16, "cpu:2/1", false).loss == half.loss);
    const trained again = train(llama, MST_MIXED_BFLOAT16, "cpu:1/1", true); /* keeps nothing, and so rounds nothing */
    assert_true(fabs(again.loss - half.loss) < 0.01 * half.loss);
}

static void what_a_gpt_keeps_takes_half_of_the_memory(void **state) {
    (void)state;
    check(false);
}

static void what_a_llama_keeps_takes_half_of_the_memory(void **state) {
    (void)state;
    check(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_gpt_keeps_takes_half_of_the_memory),
        cmocka_unit_test(what_a_llama_keeps_takes_half_of_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
