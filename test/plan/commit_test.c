/* A training step updates its variables in place, without copies. */
#include "support/test.h"
#include "support/training.h"

/* Updates of a training step write in place behind the gate: nothing that is reported beside them may fail there. */
static void expect_updates_in_place(float l2, const char *devices, mst_strategy_kind kind) {
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_dataset *data = training_data(64, 10, 3, 1);
    mst_model *model = training_model(20, 3, l2);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01),
                          .strategy = {.kind = kind, .num_shards = 4},
                          .session = {.devices = devices, .plan_log = file, .plan_pass = "commit"}));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 16, .epochs = 1));
    fflush(file);
    const char *staged = strstr(log, "/staged");
    if (!strstr(log, "update(")) fail_msg("no update in:\n%s", log);
    if (staged) fail_msg("l2 %g, %s: copies are written: %.60s", (double)l2, devices, staged);
    mst_model_destroy(model);
    mst_dataset_release(data);
    fclose(file);
    free(log);
}

static void updates_of_a_training_step_need_no_copies(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const float l2 = i ? 1e-3f : 0;
        expect_updates_in_place(l2, engine_here("cpu:1/1"), MST_STRATEGY_ONE);
        expect_updates_in_place(l2, engine_here("cpu:2/1"), MST_STRATEGY_MIRRORED);
        expect_updates_in_place(l2, engine_here("cpu:2/1"), MST_STRATEGY_TOWERS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(updates_of_a_training_step_need_no_copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
