/* mst_generate: text token by token. What it writes is compared with mst_predict, which sees all positions at once and
 * keeps nothing. */
#include "support/test.h"
#include "train/next_token.h"

enum { POSITIONS = 48, VOCABULARY = 23 };

static mst_model *small_gpt(bool llama, int64_t positions) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_gpt(model, .layers = 2, .width = 32, .heads = 4, .key_value_heads = 2, .vocabulary_size = VOCABULARY,
            .positions = positions, .llama = llama, .untied = true);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1),
                          .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, .session = {.devices = "cpu:1"},
                          .seed = 3));
    /* larger weights, so that the likeliest tokens are not always the same */
    mst_store *store = mst_model_store(model);
    mst_state_info *info;
    int64_t count;
    EXPECT_OK(mst_store_list(store, &info, &count));
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *value;
        if (info[i].kind != MST_STATE_WEIGHT || info[i].spec.shape.ndim < 2) continue;
        EXPECT_OK(mst_store_get(store, info[i].container, info[i].name, &value));
        for (int64_t k = 0; k < mst_tensor_count(value); k++) mst_tensor_set(value, k, 12 * mst_tensor_get(value, k));
        EXPECT_OK(mst_store_set(store, info[i].container, info[i].name, MST_STATE_WEIGHT, value));
        mst_tensor_release(value);
    }
    free(info);
    return model;
}

/* The likeliest token after TEXT, by mst_predict. */
static int32_t predicted(mst_model *model, const int32_t *text, int64_t count, int64_t positions) {
    mst_tensor *row, *logits;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(1, positions), &row));
    memcpy(mst_tensor_data(row), text, (size_t)count * sizeof *text);
    EXPECT_OK(mst_dataset_from_tensors(&row, 1, &data));
    EXPECT_OK(mst_predict(model, data, 1, &logits));
    int32_t best = 0;
    for (int32_t i = 0; i < VOCABULARY; i++)
        if (mst_tensor_get(logits, (count - 1) * VOCABULARY + i) >
            mst_tensor_get(logits, (count - 1) * VOCABULARY + best))
            best = i;
    mst_tensor_release(logits);
    mst_dataset_release(data);
    mst_tensor_release(row);
    return best;
}

static void expect_as_predicted(bool llama, int64_t prompt, int64_t new) {
    mst_model *model = small_gpt(llama, POSITIONS);
    int32_t text[POSITIONS + 1];
    mst_token_ids out = {.count = 0};
    for (int i = 0; i < prompt; i++) text[i] = (7 * i + 3) % VOCABULARY;
    EXPECT_OK(
        mst_generate(model, text, prompt, &(mst_generate_options){.max_tokens = new, .temperature = MST_ZERO}, &out));
    assert_int_equal(out.count, new);
    int different = 0;
    for (int64_t i = 0; i < new; i++) {
        text[prompt + i] = predicted(model, text, prompt + i, POSITIONS);
        if (out.id[i] != text[prompt + i])
            fail_msg("token %d after %d: %d, not %d", (int)i, (int)prompt, out.id[i], text[prompt + i]);
        different += i > 0 && out.id[i] != out.id[i - 1];
    }
    if (new > 10) assert_true(different > 3);
    free(out.id);
    mst_model_destroy(model);
}

static void greedy_text_is_that_of_predict(void **state) {
    (void)state;
    expect_as_predicted(false, 1, 30);
    expect_as_predicted(true, 5, 30);
    expect_as_predicted(false, 32, 16); /* a chunk, then all that there is room for */
    expect_as_predicted(true, 40, 8);   /* a chunk, and some more */
    expect_as_predicted(true, 48, 1);
}

static void text_that_is_too_long_goes_on_from_its_last_half(void **state) {
    (void)state;
    enum { SHORT = 8, LONG = 21 };
    mst_model *model = small_gpt(true, SHORT);
    int32_t text[LONG + 1] = {4};
    mst_token_ids out = {.count = 0};
    EXPECT_OK(mst_generate(model, text, 1, &(mst_generate_options){.max_tokens = LONG, .temperature = MST_ZERO}, &out));
    for (int64_t i = 1, begin = 0; i <= LONG; i++) {
        if (i - begin > SHORT) begin = i - SHORT / 2;
        text[i] = predicted(model, text + begin, i - begin, SHORT);
        assert_int_equal(out.id[i - 1], text[i]);
    }
    free(out.id);
    mst_model_destroy(model);
}

/* The seed, not the devices or threads, decides what is drawn. */
static void what_is_drawn_follows_from_the_seed(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:1/2", "cpu:2/1"};
    mst_model *model = small_gpt(false, POSITIONS);
    const int32_t prompt[] = {1, 2, 3};
    mst_token_ids first = {.count = 0};
    mst_generate_options o = {.max_tokens = 40, .temperature = 1.5, .top_k = 12, .top_p = 0.9, .seed = 5};
    for (int i = 0; i < 3; i++) {
        mst_token_ids out = {.count = 0};
        o.devices = devices[i];
        EXPECT_OK(mst_generate(model, prompt, 3, &o, i ? &out : &first));
        if (i) assert_memory_equal(first.id, out.id, sizeof(int32_t) * 40);
        free(out.id);
    }
    mst_token_ids other = {.count = 0};
    o.seed = 6;
    EXPECT_OK(mst_generate(model, prompt, 3, &o, &other));
    assert_memory_not_equal(first.id, other.id, sizeof(int32_t) * 40);
    free(first.id);
    free(other.id);
    mst_model_destroy(model);
}

/* Counts how often each of four tokens is drawn. */
static void draw(const mst_generate_options *o, int count[4]) {
    static const float logits[] = {0, 1.0986123F, 0, 0.6931472F}; /* 1 : 3 : 1 : 2 */
    mst_candidate candidates[4];
    memset(count, 0, 4 * sizeof *count);
    for (uint64_t i = 0; i < 7000; i++) {
        int32_t token;
        EXPECT_OK(mst_next_token(logits, 4, o, i, candidates, &token));
        count[token]++;
    }
}

static void expect_counts(const int *count, int a, int b, int c, int d) {
    const int wanted[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        if (wanted[i] == 0 ? count[i] != 0 : abs(count[i] - wanted[i]) > 200)
            fail_msg("token %d: %d times, not about %d", i, count[i], wanted[i]);
}

static void tokens_are_drawn_by_their_probabilities(void **state) {
    (void)state;
    int count[4];
    draw(&(mst_generate_options){.temperature = 1, .top_p = 1}, count);
    expect_counts(count, 1000, 3000, 1000, 2000);
    draw(&(mst_generate_options){.temperature = 0.5, .top_p = 1}, count); /* 1 : 9 : 1 : 4 */
    expect_counts(count, 467, 4200, 467, 1867);
    draw(&(mst_generate_options){.temperature = 1, .top_p = 1, .top_k = 2}, count);
    expect_counts(count, 0, 4200, 0, 2800);
    draw(&(mst_generate_options){.temperature = 1, .top_p = 0.42}, count); /* 3 / 7 is enough */
    expect_counts(count, 0, 7000, 0, 0);
    draw(&(mst_generate_options){.temperature = 1, .top_p = 0.75}, count); /* of equal ones the first */
    expect_counts(count, 1167, 3500, 0, 2333);
    draw(&(mst_generate_options){.temperature = MST_ZERO, .top_p = 1}, count);
    expect_counts(count, 0, 7000, 0, 0);
}

static bool third(void *context, int32_t token) {
    (void)token;
    return ++*(int *)context < 3;
}

static void text_ends_where_it_is_told(void **state) {
    (void)state;
    mst_model *model = small_gpt(true, POSITIONS);
    const int32_t prompt[] = {9};
    mst_token_ids out = {.count = 0}, ended = {.count = 0};
    int calls = 0;
    EXPECT_OK(mst_generate(model, prompt, 1,
                           &(mst_generate_options){.each = third, .context = &calls, .temperature = MST_ZERO}, &out));
    assert_int_equal(out.count, 3);
    const int32_t end = out.id[2];
    EXPECT_OK(mst_generate(model, prompt, 1,
                           &(mst_generate_options){.end = &end, .num_ends = 1, .temperature = MST_ZERO}, &ended));
    assert_true(ended.count <= 3 && ended.id[ended.count - 1] == end);
    free(out.id);
    free(ended.id);
    mst_model_destroy(model);
}

static void what_is_kept_is_in_no_snapshot(void **state) {
    (void)state;
    mst_model *model = small_gpt(true, POSITIONS);
    const int32_t prompt[] = {9};
    mst_snapshot *snapshot;
    mst_token_ids out = {.count = 0};
    EXPECT_OK(mst_generate(model, prompt, 1, NULL, &out));
    EXPECT_OK(mst_store_snapshot(mst_model_store(model), &snapshot));
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++)
        assert_string_equal(mst_snapshot_info(snapshot, i).container, "");
    mst_snapshot_release(snapshot);
    free(out.id);
    mst_model_destroy(model);
}

static void expect_failure(mst_model *model, const int32_t *prompt, int64_t count, const mst_generate_options *o,
                           mst_status code, const char *message) {
    mst_token_ids out = {.count = 0};
    EXPECT_ERROR(mst_generate(model, prompt, count, o, &out), code, message);
    assert_int_equal(out.count, 0);
    free(out.id);
}

static void wrong_calls_are_told(void **state) {
    (void)state;
    mst_model *model = small_gpt(true, POSITIONS), *other;
    const int32_t prompt[] = {9, VOCABULARY};
    expect_failure(model, prompt, 0, NULL, MST_INVALID, "the prompt is empty");
    expect_failure(model, prompt, 2, NULL, MST_INVALID, "token 1 of the prompt is 23, the model's tokens are 0 to 22");
    expect_failure(model, prompt, 1, &(mst_generate_options){.temperature = -1}, MST_INVALID, "temperature -1 must be");
    expect_failure(model, prompt, 1, &(mst_generate_options){.top_k = -1}, MST_INVALID, "top_k -1 must be");
    expect_failure(model, prompt, 1, &(mst_generate_options){.top_p = 2}, MST_INVALID, "top_p 2 must be");
    expect_failure(model, prompt, 1, &(mst_generate_options){.max_tokens = -2}, MST_INVALID, "max_tokens -2 must be");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&other));
    mst_input(other, MST_SHAPE(8), .dtype = MST_I32);
    mst_embedding(other, 10, 4);
    mst_lstm(other, 4, .return_sequences = true);
    mst_dense(other, 10);
    expect_failure(other, prompt, 1, NULL, MST_UNIMPLEMENTED,
                   "layer 'lstm' (lstm): the model cannot write step by step");
    mst_model_destroy(other);
    EXPECT_OK(mst_model_create(&other));
    mst_input(other, MST_SHAPE(8, 8));
    mst_dense(other, 10);
    expect_failure(other, prompt, 1, NULL, MST_INVALID, "takes no tokens [n, positions]");
    mst_model_destroy(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_text_is_that_of_predict),
        cmocka_unit_test(text_that_is_too_long_goes_on_from_its_last_half),
        cmocka_unit_test(what_is_drawn_follows_from_the_seed),
        cmocka_unit_test(tokens_are_drawn_by_their_probabilities),
        cmocka_unit_test(text_ends_where_it_is_told),
        cmocka_unit_test(what_is_kept_is_in_no_snapshot),
        cmocka_unit_test(wrong_calls_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
