/* A user's program for many_signals_test.sh. It trains MODEL on DEVICES while a timer interrupts it every
 * millisecond. SIGINT, SIGTERM and SIGHUP end it after the current step, with a checkpoint in FOLDER. Usage:
 * interrupted MODEL DEVICES FOLDER. It prints "trains" after its first step, and at the end "saved" and the number
 * of the last step. */
#include <muster/muster.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t told, ticks;

static void end(int number) {
    told = number;
}

static void tick(int number) {
    (void)number;
    ticks++;
}

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

static void take_signals(void) {
    struct sigaction ends = {.sa_handler = end, .sa_flags = SA_RESTART},
                     ticked = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const struct itimerval millisecond = {{0, 1000}, {0, 1000}};
    sigaction(SIGINT, &ends, NULL);
    sigaction(SIGTERM, &ends, NULL);
    sigaction(SIGHUP, &ends, NULL);
    sigaction(SIGALRM, &ticked, NULL);
    sigaction(SIGPROF, &ticked, NULL);
    setitimer(ITIMER_REAL, &millisecond, NULL);
    setitimer(ITIMER_PROF, &millisecond, NULL);
}

static mst_status step_end(void *context, mst_train_state *state) {
    (void)context;
    if (state->step == 1) puts("trains"), fflush(stdout);
    if (told) state->stop = true;
    return MST_OK;
}

static mst_tensor *numbers(mst_dtype dtype, mst_shape shape, int below) {
    mst_tensor *tensor;
    check(mst_tensor_create(dtype, shape, &tensor));
    const int64_t count = mst_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) mst_tensor_set(tensor, i, (double)((i * 7919 + i / 13) % below));
    return tensor;
}

/* The model, and its data: rows and labels. */
static mst_model *make(const char *name, mst_dataset **data) {
    enum { ROWS = 400, CLASSES = 5 };
    mst_model *model;
    mst_tensor *part[2] = {NULL, numbers(MST_I64, MST_SHAPE(ROWS), CLASSES)};
    check(mst_model_create(&model));
    if (strcmp(name, "text_cnn") == 0) {
        mst_text_cnn(model, .input_shape = MST_SHAPE(100), .vocabulary_size = 500, .classes = CLASSES);
        part[0] = numbers(MST_I32, MST_SHAPE(ROWS, 100), 500);
    } else if (strcmp(name, "mobilenet_v2") == 0) {
        mst_mobilenet_v2(model, .input_shape = MST_SHAPE(32, 32, 3), .alpha = 0.35, .classes = CLASSES);
        part[0] = numbers(MST_F32, MST_SHAPE(ROWS, 32, 32, 3), 2);
    } else {
        mst_dense(model, 500, .activation = MST_RELU);
        mst_dense(model, CLASSES);
        part[0] = numbers(MST_F32, MST_SHAPE(ROWS, 784), 2);
    }
    *data = mst_data_from_tensors(part, 2);
    for (int i = 0; i < 2; i++) mst_tensor_release(part[i]);
    return model;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    mst_dataset *data;
    mst_checkpoint_manager *manager;
    mst_result result;
    take_signals();
    mst_model *model = make(argv[1], &data);
    check(
        mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.001), .session = {.devices = argv[2]}, .seed = 1));
    const mst_checkpoint_options options = {.directory = argv[3], .every_steps = 1000000};
    check(mst_checkpoint_manager_open(&options, &manager));
    const mst_callback callbacks[] = {{.step_end = step_end}, mst_checkpoint_callback(manager)};
    const mst_fit_options fit = {
        .data = data, .batch_size = 40, .epochs = 1000000, .callbacks = callbacks, .num_callbacks = 2};
    check(mst_fit_with(model, &fit, &result));
    check(mst_checkpoint_manager_close(manager));
    printf("saved %lld, after %d ticks\n", (long long)result.step, (int)ticks);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return 0;
}
