/* In-graph replication: one program builds towers for the tasks of job "worker", each of which takes a part of every
 * batch, and variables for job "ps"; the tasks run it, and need to know nothing of it:
 *
 *   muster server --sessions --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name ps
 *   muster server --sessions --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name worker
 *   muster server --sessions --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name worker \
 *                 --task_index 1
 *   in_graph --target tcp://localhost:2223
 *
 * Without a target the towers are devices of this process: the weights at the end have the same bits. A task that is
 * killed and started again is waited for, and training goes on from the step that the variables have.
 *
 * Usage: in_graph [--target TARGET] [--towers N] [--steps N] [--log_device_placement]
 *   --towers  tasks of job "worker" (default 2)
 *   --steps   (default 100)
 */
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FEATURES = 8, HIDDEN = 16, BATCH = 48, MOST_TOWERS = 16, NUM_VARIABLES = 2, PATIENCE = 60 /* seconds */ };

typedef struct flags {
    const char *target;
    int towers;
    int64_t steps;
    bool log_device_placement;
} flags;

typedef struct network {
    mst_value x, y, variable[NUM_VARIABLES], step, loss, train;
} network;

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* ---- data: a function of the step alone, so that a step can be made again ---- */

/* In [-1, 1). */
static double number_at(int64_t step, int64_t i) {
    uint64_t bits = (uint64_t)step * 1000003 + (uint64_t)i;
    bits = (bits ^ bits >> 31) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u;
    return (double)(bits >> 11) / (double)(1LL << 52) - 1;
}

static mst_status fill_x(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    const int64_t step = *(const int64_t *)context, count = mst_shape_count(spec->shape);
    for (int64_t i = 0; i < count; i++) ((float *)dst)[i] = (float)number_at(step, first_row * FEATURES + i);
    return MST_OK;
}

/* What is to be learned: the sine of twice the sum of a row's features. */
static mst_status fill_y(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    const int64_t step = *(const int64_t *)context;
    for (int64_t row = 0; row < spec->shape.dim[0]; row++) {
        double sum = 0;
        for (int i = 0; i < FEATURES; i++) sum += number_at(step, (first_row + row) * FEATURES + i);
        ((float *)dst)[row] = (float)sin(2 * sum);
    }
    return MST_OK;
}

/* ---- the graph ---- */

/* The mean square error of tower T on its rows of the batch. */
static mst_value tower_loss(const network *n, int t, int towers) {
    const int64_t rows = BATCH / towers;
    const mst_value x = mst_slice(n->x, MST_SHAPE(t * rows, 0), MST_SHAPE(rows, FEATURES));
    const mst_value y = mst_slice(n->y, MST_SHAPE(t * rows, 0), MST_SHAPE(rows, 1));
    const mst_value hidden = mst_tanh(mst_matmul(x, n->variable[0]));
    return mst_reduce_mean(mst_square(mst_sub(mst_matmul(hidden, n->variable[1]), y)));
}

static mst_value mean_of(const mst_value *value, int count) {
    return mst_scale(mst_add_n(value, count), 1.0 / count);
}

static network build(mst_graph *g, const flags *f) {
    const char *const of_variables = f->target ? "/job:ps" : "/cpu:0";
    mst_value loss[MOST_TOWERS], gradient[MOST_TOWERS][NUM_VARIABLES];
    network n = {.x = mst_placeholder(g, MST_F32, MST_SHAPE(BATCH, FEATURES), .name = "x"),
                 .y = mst_placeholder(g, MST_F32, MST_SHAPE(BATCH, 1), .name = "y")};
    mst_with_device (g, of_variables) {
        n.step = mst_global_step(g);
        n.variable[0] = mst_variable(g, "hidden", mst_random_normal(g, MST_SHAPE(FEATURES, HIDDEN), .stddev = 0.5));
        n.variable[1] = mst_variable(g, "output", mst_random_normal(g, MST_SHAPE(HIDDEN, 1), .stddev = 0.5));
    }
    for (int t = 0; t < f->towers; t++) {
        char device[40];
        snprintf(device, sizeof device, f->target ? "/job:worker/task:%d" : "/cpu:%d", t);
        mst_with_device (g, device) {
            loss[t] = tower_loss(&n, t, f->towers);
            mst_gradients(loss[t], n.variable, NUM_VARIABLES, gradient[t]);
        }
    }
    const mst_optimizer momentum = mst_momentum(.learning_rate = 0.05f);
    mst_with_device (g, of_variables) {
        mst_value of_all[MOST_TOWERS], mean[NUM_VARIABLES];
        for (int v = 0; v < NUM_VARIABLES; v++) {
            for (int t = 0; t < f->towers; t++) of_all[t] = gradient[t][v];
            mean[v] = mean_of(of_all, f->towers);
        }
        n.loss = mean_of(loss, f->towers);
        n.train = mst_apply_gradients(&momentum, mean, n.variable, NUM_VARIABLES, n.step);
    }
    check(mst_graph_check(g));
    return n;
}

/* ---- training ---- */

/* The step from which training goes on, once all tasks are there. */
static int64_t begin(mst_session *session, const network *n) {
    const struct timespec pause = {.tv_nsec = 100000000};
    const time_t began = time(NULL);
    mst_tensor *step = NULL;
    for (;;) {
        mst_status status = mst_session_init_variables(session); /* those that have no values */
        if (!status) status = mst_session_get_variable(session, n->step, &step);
        if (status == MST_UNAVAILABLE && time(NULL) - began < PATIENCE) {
            nanosleep(&pause, NULL);
            continue;
        }
        check(status);
        const int64_t number = (int64_t)mst_tensor_get(step, 0);
        mst_tensor_release(step);
        return number;
    }
}

static void train(mst_session *session, const network *n, int64_t steps) {
    int64_t step = begin(session, n);
    mst_tensor *output[2] = {NULL, NULL};
    const mst_feed feeds[] = {{n->x, .fill = fill_x, .context = &step, .spec = {MST_F32, MST_SHAPE(BATCH, FEATURES)}},
                              {n->y, .fill = fill_y, .context = &step, .spec = {MST_F32, MST_SHAPE(BATCH, 1)}}};
    while (step < steps) {
        const mst_status status = mst_session_run(session, feeds, 2, MST_VALUES(n->loss, n->train), 2, output);
        if (status == MST_UNAVAILABLE) { /* a task is lost: its part of the step may have been made or not */
            printf("%s\n", mst_error()->message);
            fflush(stdout);
            step = begin(session, n);
            printf("going on from step %lld\n", (long long)step);
            continue;
        }
        check(status);
        if (++step % 10 == 0) printf("step %lld, loss = %.6f\n", (long long)step, mst_tensor_get(output[0], 0));
        fflush(stdout);
    }
    mst_tensor_release(output[0]);
}

/* FNV-1a over all weights. */
static uint64_t hash_weights(mst_session *session, const network *n) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int v = 0; v < NUM_VARIABLES; v++) {
        mst_tensor *value;
        check(mst_session_get_variable(session, n->variable[v], &value));
        const unsigned char *byte = mst_tensor_data(value);
        for (size_t i = 0; i < mst_tensor_bytes(value); i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
        mst_tensor_release(value);
    }
    return hash;
}

static flags parse(int argc, char **argv) {
    flags f = {.towers = 2, .steps = 100};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--log_device_placement") == 0)
            f.log_device_placement = true;
        else if (strcmp(argv[i], "--target") == 0 && *value)
            f.target = argv[++i];
        else if (strcmp(argv[i], "--towers") == 0)
            f.towers = atoi(argv[++i]);
        else if (strcmp(argv[i], "--steps") == 0)
            f.steps = atoll(argv[++i]);
        else
            f.towers = 0;
    }
    if (f.towers >= 1 && f.towers <= MOST_TOWERS && BATCH % f.towers == 0) return f;
    fprintf(stderr,
            "error: usage: in_graph [--target tcp://HOST:PORT] [--towers N] [--steps N] "
            "[--log_device_placement]; N towers divide a batch of %d\n",
            BATCH);
    exit(2);
}

int main(int argc, char **argv) {
    const flags f = parse(argc, argv);
    char devices[16];
    mst_graph *g;
    mst_session *session;
    snprintf(devices, sizeof devices, "cpu:%d", f.towers);
    check(mst_graph_create(&g));
    const network n = build(g, &f);
    const mst_session_options options = {.devices = f.target ? NULL : devices,
                                         .placement_log = f.log_device_placement ? stdout : NULL,
                                         .timeout = PATIENCE,
                                         .target = f.target};
    check(mst_session_create(g, &options, &session));
    train(session, &n, f.steps);
    printf("weights after %lld steps: %016llx\n", (long long)f.steps, (unsigned long long)hash_weights(session, &n));
    mst_session_destroy(session);
    mst_graph_destroy(g);
    return 0;
}
