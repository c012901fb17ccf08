/* Layers of transformers: grouped heads, rotary positions, RMS normalization, shared embeddings; and a GPT that
 * learns. */
#include <math.h>
#include <string.h>

#include "muster/applications.h"
#include "muster/ops.h"
#include "muster/train.h"
#include "support/test.h"

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

static int64_t parameters(mst_model *model) {
    const mst_weight *weight;
    int64_t count, sum = 0;
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    for (int64_t i = 0; i < count; i++) sum += mst_shape_count(weight[i].spec.shape);
    mst_model_destroy(model);
    return sum;
}

/* The numbers that are published for GPT-2 and TinyLlama. */
static void gpt_has_the_published_numbers_of_parameters(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_gpt(model);
    assert_int_equal(parameters(model), 124439808);
    model = new_model();
    mst_gpt(model, .layers = 22, .width = 2048, .heads = 32, .key_value_heads = 4, .vocabulary_size = 32000,
            .positions = 2048, .inner = 5632, .llama = true, .untied = true);
    assert_int_equal(parameters(model), 1100048384);
}

static void expect_refused(mst_gpt_options options, const char *why) {
    mst_model *model = new_model();
    mst_gpt_with(model, &options);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, why);
    mst_model_destroy(model);
}

static void sizes_that_do_not_fit_are_refused(void **state) {
    (void)state;
    expect_refused((mst_gpt_options){.width = 10, .heads = 3}, "width 10 must be a multiple of heads 3");
    expect_refused((mst_gpt_options){.width = 12, .heads = 4, .key_value_heads = 3}, "and these of 3");
    expect_refused((mst_gpt_options){.width = 12, .heads = 4, .llama = true}, "must be an even multiple of heads 4");
    expect_refused((mst_gpt_options){.layers = -1}, "layers is -1");
    expect_refused((mst_gpt_options){.dropout = 1}, "dropout is 1");
    mst_model *model = new_model();
    mst_multi_head_attention(model, 3, 2, .num_key_value_heads = 2);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "num_key_value_heads 2 must divide num_heads 3");
    mst_model_destroy(model);
    model = new_model();
    mst_multi_head_attention(model, 2, 3, .rotary_base = 10000);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "key_dim must be even, it is 3");
    mst_model_destroy(model);
}

static void rms_normalization_divides_by_the_root_of_the_mean_square(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    const mst_value src = mst_values(graph, MST_F64, MST_SHAPE(2, 2), ((const double[]){3, -4, 0, 0}));
    const mst_value y = mst_rms_normalization(src, .epsilon = 0.5f, .name = "rms");
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, y);
    const double root = sqrt(12.5 + 0.5);
    assert_true(fabs(mst_tensor_get(got, 0) - 3 / root) < 1e-12 && fabs(mst_tensor_get(got, 1) + 4 / root) < 1e-12);
    assert_true(mst_tensor_get(got, 2) == 0 && mst_tensor_get(got, 3) == 0);
    mst_tensor_release(got);
    engine_end(graph, session);
}

/* The outputs of a model with an embedding and logits of the same weights are the products of its rows. */
static void logits_share_the_weights_of_the_embedding(void **state) {
    enum { TOKENS = 5, WIDTH = 3 };
    (void)state;
    mst_model *model = new_model();
    mst_output x = mst_input(model, MST_SHAPE(TOKENS), .dtype = MST_I32);
    mst_embedding_logits(mst_embedding(x, TOKENS, WIDTH, .name = "words"), "words");
    mst_graph *graph = engine_graph();
    const double tokens[TOKENS] = {0, 1, 2, 3, 4};
    const mst_value y = mst_model_call(model, mst_values(graph, MST_I32, MST_SHAPE(1, TOKENS), tokens), false);
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, y);
    assert_int_equal(mst_tensor_count(got), TOKENS * TOKENS);
    for (int i = 0; i < TOKENS; i++)
        for (int j = 0; j < i; j++)
            assert_true(mst_tensor_get(got, i * TOKENS + j) == mst_tensor_get(got, j * TOKENS + i));
    for (int i = 0; i < TOKENS; i++) assert_true(mst_tensor_get(got, i * TOKENS + i) > 0);
    mst_tensor_release(got);
    engine_end(graph, session);
    assert_int_equal(parameters(model), TOKENS * WIDTH);
    model = new_model();
    mst_embedding_logits(mst_input(model, MST_SHAPE(WIDTH)), "words");
    const mst_weight *weight;
    int64_t count;
    EXPECT_ERROR(mst_model_weights(model, &weight, &count), MST_NOT_FOUND, "there is no embedding 'words' before it");
    mst_model_destroy(model);
}

enum { VOCABULARY = 7, POSITIONS = 12, EXAMPLES = 64 };

/* Texts in which each token is the one before plus a step of the text: two tokens tell the next. */
static mst_dataset *texts(void) {
    mst_tensor *x = engine_tensor(MST_I32, MST_SHAPE(EXAMPLES, POSITIONS), NULL);
    mst_tensor *y = engine_tensor(MST_I32, MST_SHAPE(EXAMPLES, POSITIONS), NULL);
    for (int64_t i = 0; i < EXAMPLES; i++)
        for (int64_t p = 0; p < POSITIONS; p++) {
            const int64_t step = 1 + i % (VOCABULARY - 1), first = i / 3;
            mst_tensor_set(x, i * POSITIONS + p, (double)((first + p * step) % VOCABULARY));
            mst_tensor_set(y, i * POSITIONS + p, (double)((first + (p + 1) * step) % VOCABULARY));
        }
    mst_dataset *rows, *batches;
    EXPECT_OK(mst_dataset_from_tensors((mst_tensor *[]){x, y}, 2, &rows));
    EXPECT_OK(mst_dataset_batch(rows, 16, false, &batches));
    mst_dataset_release(rows);
    mst_tensor_release(x), mst_tensor_release(y);
    return batches;
}

/* Trains, and returns the last loss. */
static double trained(bool llama, const char *devices) {
    mst_model *model = new_model();
    mst_dataset *data = texts();
    mst_result result;
    mst_gpt(model, .layers = 1, .width = 32, .heads = 4, .key_value_heads = llama ? 2 : 0,
            .vocabulary_size = VOCABULARY, .positions = POSITIONS, .inner = 64, .llama = llama);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01),
                          .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, .session = {.devices = devices},
                          .seed = 3));
    EXPECT_OK(mst_fit_with(model, &(mst_fit_options){.data = data, .epochs = 60}, &result));
    mst_dataset_release(data);
    mst_model_destroy(model);
    return result.loss;
}

/* Position 0 cannot know the step: log 6 of one position in twelve is left. */
static void a_small_gpt_learns_what_two_tokens_tell(void **state) {
    (void)state;
    for (int llama = 0; llama < 2; llama++) {
        const double loss = trained(llama, engine_here("cpu:1"));
        if (!(loss < 0.3)) fail_msg("%s: the loss is %g", llama ? "llama" : "gpt", loss);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt_has_the_published_numbers_of_parameters),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(rms_normalization_divides_by_the_root_of_the_mean_square),
        cmocka_unit_test(logits_share_the_weights_of_the_embedding),
        cmocka_unit_test(a_small_gpt_learns_what_two_tokens_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
