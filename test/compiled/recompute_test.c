/* Values that are computed again for the backward pass have the bits of values that are kept. Their sources go
 * through a barrier, because otherwise the compiler would reuse the values of the forward pass. */
#include "support/networks.h"
#include "support/program_texts.h"
#include "support/test.h"
#include "support/training.h"

static const mst_optimizer adam = {.rule = "adam", .learning_rate = 0.01};

static int num_with(const program_texts *texts, const char *part) {
    int count = 0;
    for (int64_t i = 0; i < texts->count; i++) count += strstr(texts->text[i], part) != NULL;
    return count;
}

/* The weights of RUN; *BARRIERS is the number of its texts with barriers. */
static void train(const network_run *run, char sha[65], int *barriers) {
    program_texts texts = {0};
    mst_model *model = network_compiled(run);
    network_fit(model, run, NULL);
    program_texts_add(&texts, mst_model_session(model));
    *barriers = num_with(&texts, "stablehlo.optimization_barrier");
    EXPECT_OK(mst_model_sha256(model, sha));
    program_texts_free(&texts);
    mst_model_destroy(model);
}

/* Ten layers whose values are large enough to be computed again, with random numbers in them. */
enum { ROWS = 128, FEATURES = 40, LAYERS = 10 };

static mst_model *build_deep(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    for (int i = 0; i < LAYERS; i++) {
        mst_dense(model, FEATURES, .activation = i % 2 ? MST_TANH : MST_RELU);
        if (i % 3 == 1) mst_dropout(model, .rate = 0.1f);
    }
    mst_dense(model, 3);
    return model;
}

static mst_dataset *vectors(int64_t rows) {
    return training_data(rows, FEATURES, 3, 3);
}

static void values_that_are_computed_again_give_the_same_bits(void **state) {
    (void)state;
    static const network deep = {"deep", build_deep, vectors};
    static const char *const devices[] = {"lagoon:1", "lagoon:1", "lagoon:2"};
    for (int i = 0; i < 3; i++) { /* one shard, two on one device, and two on two */
        char without[65], with[65];
        int none, some;
        network_run run = {.network = &deep,
                           .optimizer = adam,
                           .devices = devices[i],
                           .shards = i == 0 ? 1 : 2,
                           .rows = 2 * ROWS,
                           .batch = 2 * ROWS};
        train(&run, without, &none);
        run.recompute = true;
        train(&run, with, &some);
        assert_string_equal(with, without);
        assert_int_equal(none, 0);
        assert_true(some > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_computed_again_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
