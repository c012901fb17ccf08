/* Between-graph replication: every worker is a program of its own with a graph of its own, and the variables are on a
 * parameter server, under the same names for all. The tasks are task servers:
 *
 *   muster server --sessions --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name ps
 *   muster server --sessions --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name worker
 *   muster server --sessions --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name worker \
 *                 --task_index 1
 *   between_graph --target tcp://localhost:2223 --task_index 0
 *   between_graph --target tcp://localhost:2224 --task_index 1
 *
 * Worker 0 is the chief: it gives the variables their values and saves; the other one waits for it. They train until
 * they have made N steps together. Any of the five may be killed and started again with the same command.
 *
 *   --target --task_index   as above
 *   --num_ps N              parameter servers (default 1)
 *   --steps N               of all workers together (default 1000)
 *   --checkpoint_dir DIR    of the chief (default: none) */
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 8, ROWS = 32 };

typedef struct flags {
    const char *target, *checkpoint_dir;
    int task_index, num_ps;
    int64_t steps;
} flags;

typedef struct network {
    mst_value x, y, loss, train;
} network;

/* What is to be learned: y = x w, where w is 1, 2, ..., 8. */
static void fill_batch(int worker, int64_t step, float *x, float *y) {
    for (int row = 0; row < ROWS; row++) {
        y[row] = 0;
        for (int i = 0; i < FEATURES; i++) {
            const double wave = sin((double)(worker + 1) * (double)(step * ROWS + row + 1) * (i + 1.5));
            x[row * FEATURES + i] = (float)wave;
            y[row] += (float)((i + 1) * wave);
        }
    }
}

static network build(mst_graph *g, const flags *f) {
    char worker[32];
    network n = {.x = mst_placeholder(g, MST_F32, MST_SHAPE(ROWS, FEATURES), .name = "x"),
                 .y = mst_placeholder(g, MST_F32, MST_SHAPE(ROWS, 1), .name = "y")};
    const mst_optimizer adam = mst_adam(.learning_rate = 0.05f);
    snprintf(worker, sizeof worker, "/job:worker/task:%d", f->task_index);
    mst_with_replica_device (g, .num_ps = f->num_ps, .worker_device = worker) {
        const mst_value step = mst_global_step(g);
        const mst_value w = mst_variable(g, "w", mst_random_normal(g, MST_SHAPE(FEATURES, 1), .stddev = 0.1));
        n.loss = mst_reduce_mean(mst_square(mst_sub(mst_matmul(n.x, w), n.y)));
        n.train = mst_minimize(&adam, n.loss, &w, 1, step);
    }
    return n;
}

static mst_status train(mst_monitored_session *s, const network *n, int worker) {
    mst_tensor *x, *y, *loss = NULL;
    mst_status status = MST_OK;
    int64_t made = 0;
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, FEATURES), &x));
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 1), &y));
    const mst_feed feeds[] = {{n->x, .tensor = x}, {n->y, .tensor = y}};
    while (!status && !mst_monitored_session_should_stop(s)) {
        fill_batch(worker, made++, mst_tensor_data(x), mst_tensor_data(y));
        mst_tensor *outputs[] = {loss, NULL};
        status = mst_monitored_session_run(s, feeds, 2, MST_VALUES(n->loss, n->train), 2, outputs);
        loss = outputs[0];
        if (loss && made % 100 == 0)
            printf("worker %d: %lld steps of its own, global step %lld, loss %.4f\n", worker, (long long)made,
                   (long long)mst_monitored_session_step(s), mst_tensor_get(loss, 0));
    }
    if (!status && loss)
        printf("worker %d: done at global step %lld, loss %.4f\n", worker, (long long)mst_monitored_session_step(s),
               mst_tensor_get(loss, 0));
    else if (!status)
        printf("worker %d: the job has made its %lld steps without this worker\n", worker,
               (long long)mst_monitored_session_step(s));
    mst_tensor_release(loss);
    mst_tensor_release(x);
    mst_tensor_release(y);
    return status;
}

static mst_status work(const flags *f, mst_graph *g) {
    const network n = build(g, f);
    const bool is_chief = f->task_index == 0;
    mst_monitored_session *s;
    if (mst_graph_check(g) ||
        mst_monitored_session_create(g, &s, .session = {.target = f->target}, .waits_for_chief = !is_chief,
                                     .last_step = f->steps, .checkpoint_dir = is_chief ? f->checkpoint_dir : NULL,
                                     .save_steps = 100, .rate_steps = 500, .log = stderr)) {
        fprintf(stderr, "error: %s\n", mst_error()->message);
        return mst_error()->code;
    }
    const mst_status status = train(s, &n, f->task_index);
    if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
    const mst_status closed = mst_monitored_session_close(s);
    if (closed) fprintf(stderr, "error: %s\n", mst_error()->message);
    return status ? status : closed;
}

static bool parse(int argc, char **argv, flags *f) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--target") == 0)
            f->target = value;
        else if (strcmp(argv[i], "--num_ps") == 0)
            f->num_ps = atoi(value);
        else if (strcmp(argv[i], "--task_index") == 0)
            f->task_index = atoi(value);
        else if (strcmp(argv[i], "--steps") == 0)
            f->steps = atoll(value);
        else if (strcmp(argv[i], "--checkpoint_dir") == 0)
            f->checkpoint_dir = value;
        else
            return false;
    }
    return argc % 2 == 1 && f->target && f->num_ps > 0 && f->task_index >= 0 && f->steps > 0;
}

int main(int argc, char **argv) {
    flags f = {.num_ps = 1, .steps = 1000};
    mst_graph *g;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!parse(argc, argv, &f)) {
        fputs(
            "error: usage: between_graph --target tcp://HOST:PORT --task_index N [--num_ps N] [--steps N] "
            "[--checkpoint_dir DIR]\n",
            stderr);
        return 2;
    }
    mst_status status = mst_graph_create(&g);
    if (!status) {
        status = work(&f, g);
        mst_graph_destroy(g);
    }
    return status ? 1 : 0;
}
