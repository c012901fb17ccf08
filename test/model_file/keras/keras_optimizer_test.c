/* Each setting of an optimizer of Keras 2 and 3 is kept, or a note says why the optimizer is not used. */
#include <string.h>

#include "model_file/keras/weights.h"
#include "support/test.h"

typedef struct reading {
    mst_optimizer optimizer;
    char note[MST_OPTIMIZER_NOTE];
} reading;

static reading read_of(const char *class_name, const char *config) {
    reading r;
    char text[1024];
    snprintf(text, sizeof text, "{\"class_name\": \"%s\", \"config\": {%s}}", class_name, config);
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    mst_keras_optimizer_read(object, &r.optimizer, r.note);
    json_decref(object);
    return r;
}

static void expect_refused(const char *class_name, const char *config, const char *why) {
    const reading r = read_of(class_name, config);
    if (r.optimizer.rule || !strstr(r.note, why)) fail_msg("%s {%s}: '%s', not '%s'", class_name, config, r.note, why);
}

static reading expect_taken(const char *class_name, const char *config, const char *note) {
    const reading r = read_of(class_name, config);
    if (!r.optimizer.rule || (*note ? !strstr(r.note, note) : *r.note))
        fail_msg("%s {%s}: '%s', not '%s'", class_name, config, r.note, note);
    return r;
}

#define RATE "\"learning_rate\": 0.1"
#define SCHEDULE                                                                                              \
    "\"learning_rate\": {\"class_name\": \"ExponentialDecay\", \"config\": {\"initial_learning_rate\": 0.1, " \
    "\"decay_steps\": 5, \"decay_rate\": 0.5}}"

static void decay_of_keras_2_is_a_schedule(void **state) {
    (void)state;
    const mst_schedule s = expect_taken("Adam", RATE ", \"decay\": 0.25, \"amsgrad\": false", "").optimizer.schedule;
    assert_int_equal(s.kind, MST_SCHEDULE_INVERSE_TIME);
    assert_true(s.rate == 0.1 && s.decay_steps == 1 && s.decay_rate == 0.25 && !s.staircase);
    const reading none = expect_taken("SGD", RATE ", \"decay\": 0.0, \"momentum\": 0.9, \"nesterov\": true", "");
    assert_true(none.optimizer.learning_rate == 0.1 && none.optimizer.momentum == 0.9 && none.optimizer.nesterov);
    assert_int_equal(none.optimizer.schedule.kind, MST_SCHEDULE_NONE);
    assert_true(expect_taken("SGD", "\"lr\": 0.2, \"decay\": 0", "").optimizer.learning_rate == 0.2);
    expect_refused("SGD", SCHEDULE ", \"decay\": 0.25", "a decay beside a schedule of the learning rate");
    expect_refused("SGD", RATE ", \"decay\": \"fast\"", "decay");
}

static void formulas_of_keras_2(void **state) {
    (void)state;
    expect_refused("Nadam", RATE ", \"decay\": 0.004", "in Keras 2 it has another formula");
    expect_refused("Nadam", RATE ", \"schedule_decay\": 0.004", "schedule_decay = 0.004");
    expect_taken("Nadam", RATE ", \"is_legacy_optimizer\": false", "");
    expect_taken("RMSprop", RATE ", \"decay\": 0.0, \"momentum\": 0.0", "epsilon is added below the root");
    expect_taken("RMSprop", RATE ", \"decay\": 0.0, \"momentum\": 0.5", "");
    expect_taken("RMSprop", RATE ", \"momentum\": 0.0", "");
    /* .h5 files of Keras 2.11 to 2.15 */
    assert_true(expect_taken("Custom>SGD",
                             RATE ", \"jit_compile\": false, \"is_legacy_optimizer\": false, "
                                  "\"weight_decay\": null, \"ema_overwrite_frequency\": null, \"momentum\": 0.5",
                             "")
                    .optimizer.momentum == 0.5);
    expect_refused("Custom>Lookahead", RATE, "there is none such here");
    expect_refused("Adagrad", "\"lr\": 0.1, \"decay\": 0.0", "begins with sums of 0");
    expect_taken("Adagrad", RATE ", \"decay\": 0.0, \"initial_accumulator_value\": 0.1", "");
}

static void settings_that_are_not_known_are_told(void **state) {
    (void)state;
    expect_taken("Adam", RATE ", \"later\": null, \"later_too\": false, \"jit_compile\": true, \"name\": \"x\"", "");
    expect_refused("Adam", RATE ", \"later\": 0.5", "later = 0.5");
    expect_refused("Adam", RATE ", \"later\": [1]", "later = [1]");
    expect_refused("Adam", RATE ", \"epsilon\": \"small\"", "epsilon = \"small\"");
    expect_refused("Adam", RATE ", \"momentum\": 0.9", "momentum");
    expect_refused("SGD", RATE ", \"amsgrad\": true", "amsgrad");
    expect_refused("SGD", RATE ", \"use_ema\": true, \"ema_momentum\": 0.9, \"ema_overwrite_frequency\": 5",
                   "ema_overwrite_frequency");
    expect_refused("SGD", RATE ", \"use_ema\": true, \"ema_momentum\": 1.5", "ema_momentum = 1.5");
    expect_refused("SGD", RATE ", \"gradient_accumulation_steps\": 0", "gradient_accumulation_steps");
    expect_refused("SGD", "\"learning_rate\": {\"class_name\": \"CosineDecayRestarts\", \"config\": {}}",
                   "a learning rate CosineDecayRestarts");
    expect_refused("SGD", "\"momentum\": 0.9", "a learning rate that is no number");
    expect_refused("Lion", RATE, "there is none such here");
    expect_taken("Adam", RATE ", \"loss_scale_factor\": 8.0", "loss_scale_factor");
}

/* A 0 is not taken for the default. */
static void settings_of_0_are_written(void **state) {
    (void)state;
    static const char *const keys[] = {"weight_decay", "beta_1", "beta_2", "epsilon"};
    json_t *object;
    char config[128];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(config, sizeof config, RATE ", \"%s\": 0.0", keys[i]);
        const reading r = expect_taken("AdamW", config, "");
        EXPECT_OK(mst_keras_optimizer_write(&r.optimizer, &object));
        const json_t *written = json_object_get(json_object_get(object, "config"), keys[i]);
        assert_true(json_is_real(written) && json_real_value(written) == 0);
        json_decref(object);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decay_of_keras_2_is_a_schedule),
        cmocka_unit_test(formulas_of_keras_2),
        cmocka_unit_test(settings_that_are_not_known_are_told),
        cmocka_unit_test(settings_of_0_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
