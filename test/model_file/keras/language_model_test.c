/* Language models in files: layers that only Muster has are in Keras' files under the module "muster". */
#include "muster/generate.h"
#include "support/folder.h"
#include "support/test.h"

enum { POSITIONS = 12, VOCABULARY = 40, NEW = 20 };

static mst_model *made(bool llama) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_gpt(model, .layers = 2, .width = 16, .heads = 4, .key_value_heads = llama ? 2 : 0,
            .vocabulary_size = VOCABULARY, .positions = POSITIONS, .llama = llama, .rotary_base = 500, .dropout = 0.1F);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(), .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY,
                          .session = {.devices = "cpu:1"}, .seed = 3));
    return model;
}

/* Text that is drawn: it depends on all weights, and on the options of all layers. */
static void write(mst_model *model, mst_token_ids *out) {
    const int32_t prompt[] = {3, 1, 4};
    EXPECT_OK(
        mst_generate(model, prompt, 3, &(mst_generate_options){.max_tokens = NEW, .seed = 2, .temperature = 0.1}, out));
}

static void expect_back(bool llama, const char *file) {
    mst_model *model = made(llama), *back;
    mst_token_ids before = {.count = 0}, after = {.count = 0};
    write(model, &before);
    EXPECT_OK(mst_model_save(model, folder_path(file)));
    EXPECT_OK(mst_model_load(folder_path(file), &back, NULL));
    write(back, &after);
    assert_memory_equal(before.id, after.id, NEW * sizeof(int32_t));
    free(before.id);
    free(after.id);
    mst_model_destroy(model);
    mst_model_destroy(back);
}

static void language_models_come_back_from_files(void **state) {
    (void)state;
    expect_back(false, "gpt.keras");
    expect_back(true, "llama.keras");
    expect_back(false, "gpt.h5");
    expect_back(true, "llama.h5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(language_models_come_back_from_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
