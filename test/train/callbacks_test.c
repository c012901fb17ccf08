/* Callbacks of a fit: when each is called and what it sees, how it ends the training, and what those of the library
 * do: learning rates, early stopping, and the line of progress, which is drawn on a terminal whose other end the
 * test reads. */
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 100, FEATURES = 5, CLASSES = 3, BATCH = 20, STEPS = ROWS / BATCH };

typedef struct fixture {
    mst_dataset *data, *validation;
    mst_model *model;
} fixture;

static fixture begin(mst_optimizer optimizer) {
    fixture f = {training_data(ROWS, FEATURES, CLASSES, 1), training_data(30, FEATURES, CLASSES, 2),
                 training_model(8, CLASSES, 0)};
    EXPECT_OK(mst_compile(f.model, .optimizer = optimizer, .metric = {MST_METRIC_ACCURACY},
                          .session = {.devices = "cpu:1/1"}, .seed = 1));
    return f;
}

static void end(fixture *f) {
    mst_model_destroy(f->model);
    mst_dataset_release(f->data);
    mst_dataset_release(f->validation);
}

static mst_status fit(fixture *f, int64_t epochs, mst_callback callback, mst_result *result) {
    return mst_fit_with(f->model,
                        &(mst_fit_options){.data = f->data,
                                           .validation = f->validation,
                                           .batch_size = BATCH,
                                           .epochs = epochs,
                                           .callbacks = &callback,
                                           .num_callbacks = 1},
                        result);
}

/* ---- order and state ---- */

typedef struct counts {
    int train_begin, epoch_begin, step_end, epoch_end, train_end;
    double loss_sum;
    int64_t stop_at, fail_at;
} counts;

static mst_status count_train_begin(void *context, mst_train_state *state) {
    counts *c = context;
    assert_int_equal(state->num_epochs, 2);
    assert_int_equal(state->steps_per_epoch, STEPS);
    assert_int_equal(state->num_steps, 2 * STEPS);
    c->train_begin++;
    return MST_OK;
}

static mst_status count_epoch_begin(void *context, mst_train_state *state) {
    counts *c = context;
    assert_int_equal(state->epoch, c->epoch_begin);
    assert_int_equal(state->step_in_epoch, 0);
    c->epoch_begin++;
    c->loss_sum = 0;
    return MST_OK;
}

static mst_status count_step_end(void *context, mst_train_state *state) {
    counts *c = context;
    c->step_end++;
    c->loss_sum += state->step_loss;
    assert_int_equal(state->step, c->step_end);
    assert_int_equal(state->examples, state->step_in_epoch * BATCH);
    assert_true(fabs(state->loss - c->loss_sum / (double)state->step_in_epoch) < 1e-6);
    assert_true(state->seconds > 0 && state->step_seconds > 0);
    assert_false(state->has_validation);
    if (c->fail_at && state->step == c->fail_at) return MST_FAIL(MST_CANCELLED, "enough of this");
    if (c->stop_at && state->step == c->stop_at) state->stop = true;
    return MST_OK;
}

static mst_status count_epoch_end(void *context, mst_train_state *state) {
    ((counts *)context)->epoch_end++;
    assert_true(state->has_validation);
    assert_true(state->validation_loss > 0);
    return MST_OK;
}

static mst_status count_train_end(void *context, mst_train_state *state) {
    (void)state;
    ((counts *)context)->train_end++;
    return MST_OK;
}

static mst_callback counting(counts *c) {
    return (mst_callback){.context = c,
                          .train_begin = count_train_begin,
                          .epoch_begin = count_epoch_begin,
                          .step_end = count_step_end,
                          .epoch_end = count_epoch_end,
                          .train_end = count_train_end};
}

static void callbacks_are_called_in_their_order_and_see_the_state(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    counts c = {0};
    EXPECT_OK(fit(&f, 2, counting(&c), NULL));
    assert_true(c.train_begin == 1 && c.epoch_begin == 2 && c.step_end == 2 * STEPS && c.epoch_end == 2 &&
                c.train_end == 1);
    end(&f);
}

static void stop_flag_ends_training_cleanly_after_the_step(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    counts c = {.stop_at = 3};
    mst_result result;
    EXPECT_OK(fit(&f, 2, counting(&c), &result));
    assert_int_equal(result.step, 3);
    assert_true(result.stopped);
    assert_int_equal(c.step_end, 3);
    assert_int_equal(c.train_end, 1);
    end(&f);
}

static void error_of_a_callback_ends_training_and_is_returned(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    counts c = {.fail_at = 4};
    EXPECT_ERROR(fit(&f, 2, counting(&c), NULL), MST_CANCELLED, "enough of this");
    assert_int_equal(c.step_end, 4);
    assert_int_equal(c.train_end, 1); /* so that it can free what it made */
    end(&f);
}

static mst_status fail_train_end(void *context, mst_train_state *state) {
    (void)context, (void)state;
    return MST_FAIL(MST_CANCELLED, "cannot end");
}

static void all_callbacks_see_the_end_where_one_fails_there(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    counts c = {0};
    const mst_callback callbacks[] = {{.train_end = fail_train_end}, counting(&c)};
    EXPECT_ERROR(mst_fit_with(f.model,
                              &(mst_fit_options){.data = f.data,
                                                 .validation = f.validation,
                                                 .batch_size = BATCH,
                                                 .epochs = 2,
                                                 .callbacks = callbacks,
                                                 .num_callbacks = 2},
                              NULL),
                 MST_CANCELLED, "cannot end");
    assert_int_equal(c.train_end, 1);
    end(&f);
}

/* ---- learning rate ---- */

static double halve(void *context, int64_t epoch, double rate) {
    const double *factor = context;
    return epoch ? rate * *factor : rate;
}

typedef struct rates {
    double epoch[4];
} rates;

static mst_status note_rate(void *context, mst_train_state *state) {
    ((rates *)context)->epoch[state->epoch] = state->learning_rate;
    return MST_OK;
}

static double variable_rate(mst_model *model) {
    mst_graph *g = mst_model_graph(model);
    for (int64_t i = 0; i < mst_graph_num_nodes(g); i++) {
        mst_value v = {.node = mst_graph_node(g, i)};
        mst_tensor *tensor;
        if (!mst_is_variable(v) || !strstr(mst_value_name(v), "learning_rate")) continue;
        EXPECT_OK(mst_session_get_variable(mst_model_session(model), v, &tensor));
        double rate = mst_tensor_get(tensor, 0);
        mst_tensor_release(tensor);
        return rate;
    }
    return -1;
}

static void learning_rate_callback_sets_the_rate_of_each_epoch(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.5));
    double half = 0.5;
    mst_learning_rate_scheduler scheduler = {.context = &half, .schedule = halve};
    rates seen = {{0}};
    mst_callback callbacks[2] = {mst_learning_rate_callback(&scheduler), {.context = &seen, .epoch_end = note_rate}};
    EXPECT_OK(
        mst_fit(f.model, .data = f.data, .batch_size = BATCH, .epochs = 3, .callbacks = callbacks, .num_callbacks = 2));
    assert_true(seen.epoch[0] == 0.5 && seen.epoch[1] == 0.25 && seen.epoch[2] == 0.125);
    assert_true(variable_rate(f.model) == 0.125);
    end(&f);
}

static void learning_rate_callback_is_refused_where_there_is_a_schedule(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.schedule = mst_exponential_decay(.rate = 0.5, .decay_rate = 0.9, .decay_steps = 10)));
    double half = 0.5;
    mst_learning_rate_scheduler scheduler = {.context = &half, .schedule = halve};
    EXPECT_ERROR(fit(&f, 3, mst_learning_rate_callback(&scheduler), NULL), MST_INVALID, "the optimizer has a schedule");
    end(&f);
}

static mst_status set_rate(void *context, mst_train_state *state) {
    state->learning_rate = *(double *)context;
    return MST_OK;
}

static void rate_that_is_set_before_the_first_step_counts(void **state) {
    (void)state;
    char wanted[65], got[65];
    fixture f = begin(mst_sgd(.learning_rate = 0.25));
    EXPECT_OK(fit(&f, 1, (mst_callback){.context = NULL}, NULL));
    EXPECT_OK(mst_model_sha256(f.model, wanted));
    end(&f);
    f = begin(mst_sgd(.learning_rate = 0.5));
    double rate = 0.25;
    EXPECT_OK(fit(&f, 1, (mst_callback){.context = &rate, .train_begin = set_rate}, NULL));
    EXPECT_OK(mst_model_sha256(f.model, got));
    assert_string_equal(got, wanted);
    end(&f);
}

static mst_status compile_again(void *context, mst_train_state *state) {
    (void)context;
    return mst_compile(state->model, .optimizer = mst_adam());
}

static mst_status fit_again(void *context, mst_train_state *state) {
    return mst_fit(state->model, .data = context);
}

static void callbacks_cannot_compile_or_fit_the_model_that_is_in_a_fit(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.25));
    EXPECT_ERROR(fit(&f, 1, (mst_callback){.step_end = compile_again}, NULL), MST_INVALID,
                 "compile: the model is being trained by mst_fit");
    EXPECT_ERROR(fit(&f, 1, (mst_callback){.context = f.data, .epoch_end = fit_again}, NULL), MST_INVALID,
                 "fit: the model is in a fit already");
    EXPECT_OK(mst_compile(f.model, .optimizer = mst_adam())); /* afterwards it can */
    EXPECT_OK(fit(&f, 1, (mst_callback){.context = NULL}, NULL));
    end(&f);
}

static mst_status fail_without_a_word(void *context, mst_train_state *state) {
    (void)context;
    (void)state;
    return MST_IO;
}

static void callback_that_fails_without_an_error_still_gives_a_message(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.25));
    EXPECT_ERROR(fit(&f, 1, (mst_callback){.step_end = fail_without_a_word}, NULL), MST_IO, "without a message");
    end(&f);
}

static void rate_zero_changes_nothing(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.schedule = mst_piecewise_constant(.num_pieces = 1, .value = {0})));
    char before[65], after[65];
    EXPECT_OK(mst_fit(f.model, .data = f.data, .batch_size = BATCH, .steps = 1));
    EXPECT_OK(mst_model_sha256(f.model, before));
    EXPECT_OK(mst_fit(f.model, .data = f.data, .batch_size = BATCH));
    EXPECT_OK(mst_model_sha256(f.model, after));
    assert_string_equal(before, after);
    end(&f);
}

/* ---- early stopping ---- */

static void early_stopping_ends_when_the_loss_does_not_improve(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.schedule = mst_piecewise_constant(.num_pieces = 1, .value = {0})));
    mst_early_stopping early = {.patience = 3};
    mst_result result;
    EXPECT_OK(fit(&f, 50, mst_early_stopping_callback(&early), &result));
    assert_true(result.stopped);
    assert_int_equal(result.step, 4 * STEPS); /* one epoch sets the best, three do not improve */
    assert_int_equal(early.best_epoch, 0);
    end(&f);
}

static void early_stopping_goes_on_while_the_loss_improves(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.05));
    mst_early_stopping early = {.monitor = "loss", .patience = 1};
    mst_result result;
    EXPECT_OK(fit(&f, 10, mst_early_stopping_callback(&early), &result));
    assert_false(result.stopped);
    assert_int_equal(result.step, 10 * STEPS);
    end(&f);
}

static void early_stopping_takes_larger_accuracy_for_better(void **state) {
    (void)state;
    fixture f = begin(mst_adam(.learning_rate = 0.05));
    mst_early_stopping early = {.monitor = "accuracy", .patience = 40};
    EXPECT_OK(fit(&f, 30, mst_early_stopping_callback(&early), NULL));
    assert_true(early.best > 0.9);
    early = (mst_early_stopping){.monitor = "val_accuracy", .patience = 40};
    EXPECT_OK(fit(&f, 2, mst_early_stopping_callback(&early), NULL));
    assert_true(early.best > 0.5);
    end(&f);
}

static void early_stopping_on_an_unknown_metric_is_an_error(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    mst_early_stopping early = {.monitor = "val_los", .patience = 1};
    mst_result result = {.step = -1};
    EXPECT_ERROR(fit(&f, 2, mst_early_stopping_callback(&early), &result), MST_INVALID,
                 "there is no 'val_los': monitor loss");
    EXPECT_OK(fit(&f, 1, (mst_callback){0}, &result));
    assert_int_equal(result.step, STEPS); /* the one that failed made no step */
    assert_true(result.has_validation && result.validation_loss > 0);
    end(&f);
}

static double learns_then_unlearns(void *context, int64_t epoch, double learning_rate) {
    (void)context;
    return epoch < 3 ? learning_rate : -1; /* away from the minimum */
}

static void early_stopping_restores_the_best_weights(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1"};
    for (int i = 0; i < 2; i++) {
        fixture f = begin(mst_sgd(.learning_rate = 0.1));
        EXPECT_OK(mst_compile(f.model, .optimizer = mst_sgd(.learning_rate = 0.1), .session = {.devices = devices[i]}));
        mst_learning_rate_scheduler scheduler = {.schedule = learns_then_unlearns};
        mst_early_stopping early = {.patience = 2, .restore_best_weights = true};
        mst_callback callbacks[] = {mst_learning_rate_callback(&scheduler), mst_early_stopping_callback(&early)};
        mst_result result;
        EXPECT_OK(mst_fit_with(f.model,
                               &(mst_fit_options){.data = f.data,
                                                  .validation = f.validation,
                                                  .batch_size = BATCH,
                                                  .epochs = 20,
                                                  .callbacks = callbacks,
                                                  .num_callbacks = 2},
                               &result));
        assert_true(result.stopped);
        assert_true(early.best_epoch * STEPS < result.step - STEPS);
        EXPECT_OK(mst_evaluate(f.model, f.validation, BATCH, &result, NULL));
        assert_true(result.loss == early.best);
        end(&f);
    }
}

/* ---- progress ---- */

static char *progress_of(mst_progress kind, int64_t epochs, mst_status *status, mst_optimizer optimizer) {
    fixture f = begin(optimizer);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    *status = mst_fit(f.model, .data = f.data, .validation = f.validation, .batch_size = BATCH, .epochs = epochs,
                      .progress = file, .progress_kind = kind);
    fclose(file);
    end(&f);
    return text;
}

static void expect_match(const char *text, const char *pattern) {
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    if (regexec(&regex, text, 0, NULL, 0) != 0) fail_msg("'%s' does not match '%s'", text, pattern);
    regfree(&regex);
}

static void lines_have_the_format_of_the_classic_example(void **state) {
    (void)state;
    mst_status status;
    char *text = progress_of(MST_PROGRESS_LINES, 50, &status, mst_sgd(.learning_rate = 0.1));
    EXPECT_OK(status);
    expect_match(text,
                 "^(epoch [0-9]+, .*\n)*step 100, loss = [0-9]+\\.[0-9]{4}, accuracy = [01]\\.[0-9]{4} "
                 "\\([0-9]+\\.[0-9] examples/sec; [0-9]+\\.[0-9]{3} sec/batch\\)\n"
                 "epoch 20, loss = [0-9.]+, accuracy = [0-9.]+, val_loss = [0-9.]+, val_accuracy = [0-9.]+\n");
    free(text);
}

static void seconds_of_a_batch_are_those_of_one_replica(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    mst_callback callback;
    EXPECT_OK(mst_progress_callback(MST_PROGRESS_LINES, file, 100, &callback));
    mst_train_state s = {.num_shards = 4, .num_steps = -1, .steps_per_epoch = -1};
    EXPECT_OK(callback.train_begin(callback.context, &s));
    s.step = 100;
    s.examples = 20000;
    s.seconds = 8;
    s.step_loss = 0.25;
    s.loss = 0.5;
    EXPECT_OK(callback.step_end(callback.context, &s));
    EXPECT_OK(callback.train_end(callback.context, &s));
    fclose(file);
    assert_string_equal(text, "step 100, loss = 0.5000 (2500.0 examples/sec; 0.020 sec/batch)\n");
    free(text);
}

static void progress_on_no_terminal_is_a_line_an_epoch(void **state) {
    (void)state;
    mst_status status;
    char *text = progress_of(MST_PROGRESS_AUTO, 2, &status, mst_sgd(.learning_rate = 0.1));
    EXPECT_OK(status);
    expect_match(text,
                 "^Train for 5 steps, validate for 2 steps\nEpoch 1/2\n5/5 \\[=+\\] - .* - loss: [0-9.]+ - accuracy: "
                 "[0-9.]+ - val_loss: [0-9.]+ - "
                 "val_accuracy: [0-9.]+.*\nEpoch 2/2\n5/5 \\[=+\\].*\n$");
    assert_null(strchr(text, '\r'));
    free(text);
}

static void plan_has_the_steps_that_are_made(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    EXPECT_OK(mst_fit(f.model, .data = f.data, .batch_size = BATCH, .steps = 2, .progress = file));
    fclose(file);
    end(&f);
    expect_match(text, "^Train for 2 steps\nEpoch 1/1\n2/2 ");
    free(text);
}

static void bar_is_drawn_over_itself(void **state) {
    (void)state;
    mst_status status;
    char *text = progress_of(MST_PROGRESS_BAR, 2, &status, mst_sgd(.learning_rate = 0.1));
    EXPECT_OK(status);
    assert_non_null(strchr(text, '\r'));
    expect_match(text, "5/5 \\[={30}\\]");
    free(text);
}

static void progress_shows_nothing_where_none_is_wanted(void **state) {
    (void)state;
    mst_status status;
    char *text = progress_of(MST_PROGRESS_NONE, 2, &status, mst_sgd(.learning_rate = 0.1));
    EXPECT_OK(status);
    assert_string_equal(text, "");
    free(text);
}

/* The clock of a training whose steps take 60 ms each. */
static _Atomic int64_t pretended;

static int64_t pretended_now(void) {
    return pretended;
}

static mst_status wait_for_redraw(void *context, mst_train_state *state) {
    const int64_t *fail_at = context;
    pretended += 60000000;
    return state->step == *fail_at ? MST_FAIL(MST_CANCELLED, "enough of this") : MST_OK;
}

/* what comes out of FILE is drawn, since each step takes longer than a terminal is left alone */
static mst_status fit_slowly(FILE *file, mst_progress kind, int64_t fail_at) {
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    mst_callback callback = {.context = &fail_at, .step_end = wait_for_redraw};
    mst_clock_replace(pretended_now);
    mst_status status = mst_fit(f.model, .data = f.data, .validation = f.validation, .batch_size = BATCH,
                                .progress = file, .progress_kind = kind, .callbacks = &callback, .num_callbacks = 1);
    mst_clock_replace(NULL);
    end(&f);
    return status;
}

/* What a terminal of COLUMNS gets to see. */
static void draw_on_terminal(unsigned short columns, char *text, size_t most) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) skip(); /* a container without /dev/pts */
    int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    FILE *file = fdopen(side, "w");
    assert_non_null(file);
    assert_int_equal(ioctl(side, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = columns}), 0);
    EXPECT_OK(fit_slowly(file, MST_PROGRESS_AUTO, -1));
    fclose(file);
    size_t size = 0;
    for (ssize_t got; (got = read(terminal, text + size, most - 1 - size)) > 0; size += (size_t)got)
        ;
    text[size] = '\0';
    close(terminal);
}

/* Each drawing but the last, which stays, is on one row and matches PATTERN. */
static void expect_drawings(const char *text, size_t columns, const char *pattern) {
    int drawings = 0;
    for (const char *drawing = strchr(text, '\r'); drawing; drawing = strchr(drawing + 1, '\r')) {
        size_t length = strcspn(drawing + 1, "\r");
        bool stays = drawing[1 + length] == '\r' && drawing[2 + length] == '\n';
        if (stays || strncmp(drawing, "\r\n", 2) == 0) continue;
        assert_true(length < columns);
        char drawn[256];
        snprintf(drawn, sizeof drawn, "%.*s", (int)length, drawing + 1);
        expect_match(drawn, pattern);
        drawings++;
    }
    assert_true(drawings >= STEPS - 1);
}

static void bar_fits_the_terminal(void **state) {
    (void)state;
    char text[4096];
    draw_on_terminal(40, text, sizeof text);
    expect_drawings(text, 40, "^[1-5]/5 - ETA: [0-9]+s - loss: [0-9]\\.[0-9]{4} *$"); /* no part of a value */
    expect_match(text, "val_accuracy: [0-9.]+\r\n");                                  /* the last has all values */
}

static void bar_is_there_on_80_columns(void **state) {
    (void)state;
    char text[8192];
    draw_on_terminal(80, text, sizeof text);
    expect_drawings(text, 80, "^[1-5]/5 \\[=*>?[.]*\\] - ETA: [0-9]+s - loss: [0-9.]+ - accuracy: [0-9.]+");
}

static void last_drawing_fits_100_columns(void **state) {
    (void)state;
    char text[8192];
    draw_on_terminal(100, text, sizeof text);
    const char *last = strstr(text, "val_accuracy");
    assert_non_null(last);
    const char *begin = last;
    while (begin > text && begin[-1] != '\r') begin--;
    assert_true(strcspn(begin, "\r") < 100);
    expect_match(begin, "^5/5 .*val_accuracy: [0-9.]+");
}

static void bar_counts_the_steps_that_are_made(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    EXPECT_OK(mst_fit(f.model, .data = f.data, .batch_size = BATCH, .steps = STEPS + 2, .progress = file));
    fclose(file);
    end(&f);
    expect_match(text, "^Train for 5 steps\nEpoch 1/2\n5/5 \\[=+\\].*\nEpoch 2/2\n2/2 \\[={30}\\]");
    free(text);
}

static void bar_of_training_that_fails_ends_its_line(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    EXPECT_ERROR(fit_slowly(file, MST_PROGRESS_BAR, 4), MST_CANCELLED, "enough of this");
    fclose(file);
    expect_match(text, "3/5 \\[=+>\\.*\\].* examples/s *\n$");
    free(text);
}

/* what progress keeps must be freed also then: the address sanitizer sees it */
static void progress_of_training_that_fails_is_given_up_cleanly(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.1));
    counts c = {.fail_at = 4};
    mst_callback callback = {.context = &c, .step_end = count_step_end};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    EXPECT_ERROR(mst_fit(f.model, .data = f.data, .batch_size = BATCH, .progress = file,
                         .progress_kind = MST_PROGRESS_BAR, .callbacks = &callback, .num_callbacks = 1),
                 MST_CANCELLED, "enough of this");
    fclose(file);
    free(text);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_are_called_in_their_order_and_see_the_state),
        cmocka_unit_test(stop_flag_ends_training_cleanly_after_the_step),
        cmocka_unit_test(error_of_a_callback_ends_training_and_is_returned),
        cmocka_unit_test(all_callbacks_see_the_end_where_one_fails_there),
        cmocka_unit_test(learning_rate_callback_sets_the_rate_of_each_epoch),
        cmocka_unit_test(learning_rate_callback_is_refused_where_there_is_a_schedule),
        cmocka_unit_test(rate_that_is_set_before_the_first_step_counts),
        cmocka_unit_test(callbacks_cannot_compile_or_fit_the_model_that_is_in_a_fit),
        cmocka_unit_test(callback_that_fails_without_an_error_still_gives_a_message),
        cmocka_unit_test(rate_zero_changes_nothing),
        cmocka_unit_test(early_stopping_ends_when_the_loss_does_not_improve),
        cmocka_unit_test(early_stopping_goes_on_while_the_loss_improves),
        cmocka_unit_test(early_stopping_takes_larger_accuracy_for_better),
        cmocka_unit_test(early_stopping_restores_the_best_weights),
        cmocka_unit_test(early_stopping_on_an_unknown_metric_is_an_error),
        cmocka_unit_test(lines_have_the_format_of_the_classic_example),
        cmocka_unit_test(seconds_of_a_batch_are_those_of_one_replica),
        cmocka_unit_test(progress_on_no_terminal_is_a_line_an_epoch),
        cmocka_unit_test(plan_has_the_steps_that_are_made),
        cmocka_unit_test(bar_is_drawn_over_itself),
        cmocka_unit_test(bar_fits_the_terminal),
        cmocka_unit_test(bar_is_there_on_80_columns),
        cmocka_unit_test(last_drawing_fits_100_columns),
        cmocka_unit_test(bar_counts_the_steps_that_are_made),
        cmocka_unit_test(bar_of_training_that_fails_ends_its_line),
        cmocka_unit_test(progress_shows_nothing_where_none_is_wanted),
        cmocka_unit_test(progress_of_training_that_fails_is_given_up_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
