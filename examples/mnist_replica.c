/* The classic distributed program of TensorFlow 1: parameter servers keep the variables of a network with one hidden
 * layer, and workers train it on MNIST. Each task is a process that is told by flags who is there and which of them it
 * is. Three terminals, in any order:
 *
 *      mnist_replica --job_name=ps --task_index=0
 *      mnist_replica --job_name=worker --task_index=0
 *      mnist_replica --job_name=worker --task_index=1
 *
 * Flags, as "--name value" or "--name=value"; the same on all tasks, but for the first two:
 *   --job_name       ps or worker
 *   --task_index     its place in the list of its job, from 0; also --task_id
 *   --ps_hosts       host:port,... of the servers (default localhost:2222)
 *   --worker_hosts   of the workers (default localhost:2223,localhost:2224)
 *   --cluster_key    file of 'muster keygen', which tasks on several machines need
 *   --data_dir       folder with the four files of MNIST (default: Fashion-MNIST, as its Debian package installs it)
 *   --hidden_units   (default 100)
 *   --train_steps    updates by all workers together (default 10000)
 *   --batch_size     of each worker (default 100)
 *   --learning_rate  of Adam (default 0.01)
 *   --issync         0 (default): the gradients of each worker are applied when they come; 1: all workers make a step
 *                    together, by the mean of their gradients
 *   --log_steps      steps of a worker between lines (default 1000)
 *
 * Four things differ from the scripts of TensorFlow:
 *   - Workers share out one shuffled pass over the images; in a script each worker draws batches by itself.
 *   - The last 5,000 images for training are those for validation; TensorFlow's reader takes the first 5,000.
 *   - A server ends when all workers have done their work; nobody has to kill it.
 *   - The variables are called hid/w, hid/b, sm/w and sm/b, in place of hid_w and so on. */
#include <errno.h>
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIXELS_WIDE = 28, CLASSES = 10, VALIDATION = 5000 };

/* ---- flags ---- */

typedef struct flags {
    const char *job_name, *ps_hosts, *worker_hosts, *cluster_key, *data_dir;
    int64_t task_index; /* -1: not given */
    int64_t hidden_units, train_steps, batch_size, is_sync, log_steps;
    double learning_rate;
} flags;

static bool read_whole(const char *text, int64_t least, int64_t most, int64_t *out) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text && !*end && !errno && *out >= least && *out <= most;
}

static bool read_rate(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && *out > 0 && isfinite(*out);
}

/* False where no flag is called the LENGTH bytes at NAME, or VALUE is none for it. */
static bool set_flag(flags *f, const char *name, size_t length, const char *value) {
    const struct {
        const char *name, **text; /* each row has one place: for text, a whole number or the learning rate */
        int64_t *number, least, most;
        double *rate;
    } table[] = {{"job_name", .text = &f->job_name},
                 {"task_index", .number = &f->task_index, .most = 1000000},
                 {"task_id", .number = &f->task_index, .most = 1000000},
                 {"ps_hosts", .text = &f->ps_hosts},
                 {"worker_hosts", .text = &f->worker_hosts},
                 {"cluster_key", .text = &f->cluster_key},
                 {"data_dir", .text = &f->data_dir},
                 {"hidden_units", .number = &f->hidden_units, .least = 1, .most = 1000000},
                 {"train_steps", .number = &f->train_steps, .least = 1, .most = INT64_MAX},
                 {"batch_size", .number = &f->batch_size, .least = 1, .most = 1000000},
                 {"learning_rate", .rate = &f->learning_rate},
                 {"issync", .number = &f->is_sync, .most = 1},
                 {"log_steps", .number = &f->log_steps, .least = 1, .most = INT64_MAX}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].name) != length || strncmp(name, table[i].name, length) != 0) continue;
        if (table[i].number) return read_whole(value, table[i].least, table[i].most, table[i].number);
        if (table[i].rate) return read_rate(value, table[i].rate);
        *table[i].text = value;
        return true;
    }
    return false;
}

static bool read_flags(int argc, char **argv, flags *f) {
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i];
        const size_t length = strcspn(flag, "=");
        const char *value = flag[length] ? flag + length + 1 : i + 1 < argc ? argv[++i] : "";
        if (strncmp(flag, "--", 2) == 0 && set_flag(f, flag + 2, length - 2, value)) continue;
        fprintf(stderr, "error: '%.*s %s' is not understood: see the top of mnist_replica.c\n", (int)length, flag,
                value);
        return false;
    }
    const char *missing = NULL;
    if (!f->job_name || (strcmp(f->job_name, "ps") != 0 && strcmp(f->job_name, "worker") != 0))
        missing = "--job_name: say whether this task is a ps or a worker";
    else if (f->task_index < 0)
        missing = "--task_index: say which task of its job this is, from 0";
    if (missing) fprintf(stderr, "error: %s\n", missing);
    return !missing;
}

/* ---- data ---- */

/* Images with pixels from 0 to 1, and labels from 0 to 9. The last 5,000 are for validation, others for training. */
static mst_status open_images(const flags *f, mst_dataset **training, mst_dataset **validation) {
    char spec[4096] = "fashion-mnist";
    if (f->data_dir) snprintf(spec, sizeof spec, "idx:%s", f->data_dir);
    mst_dataset *pixels = mst_data_scale(mst_data_open(spec, "train"), 0, MST_F32, 1.0 / 255);
    const int64_t rows = mst_dataset_num_rows(pixels);
    const int64_t used = rows > VALIDATION ? rows - VALIDATION : 0;
    *training = mst_data_take(mst_dataset_retain(pixels), used);
    *validation = mst_data_skip(pixels, used);
    return mst_dataset_check(*training);
}

/* ---- the network ---- */

static void add_layers(mst_model *model, int64_t hidden_units) {
    mst_flatten(model);
    mst_dense(model, hidden_units, .activation = MST_RELU, .name = "hid",
              .kernel_initializer = mst_truncated_normal_initializer(.stddev = 1.0 / PIXELS_WIDE), .kernel_name = "w",
              .bias_name = "b");
    mst_dense(model, CLASSES, .activation = MST_SOFTMAX, .name = "sm",
              .kernel_initializer = mst_truncated_normal_initializer(.stddev = 1 / sqrt((double)hidden_units)),
              .kernel_name = "w", .bias_name = "b");
}

/* -sum(y * log(p)) of each image, where p is at least 1e-10 */
static mst_value cross_entropy(void *context, mst_value labels, mst_value probabilities) {
    (void)context;
    const mst_value y = mst_one_hot(labels, .depth = CLASSES);
    const mst_value log_p = mst_log(mst_clip(probabilities, 1e-10, 1));
    return mst_scale(mst_reduce_sum(mst_mul(y, log_p), .axes = MST_AXES(-1)), -1);
}

/* A batch has BATCH_SIZE images for each worker. The library takes the mean over images. The weight BATCH_SIZE makes of
 * it what the scripts have: the sum over the images of a worker, and with --issync 1 the mean of these sums. */
static mst_status compile(mst_model *model, const flags *f, mst_task *task) {
    add_layers(model, f->hidden_units);
    return mst_compile(model, .optimizer = mst_adam(.learning_rate = f->learning_rate, .epsilon = 1e-8),
                       .target = {{.loss_function = cross_entropy, .weight = (double)f->batch_size}},
                       .strategy = {.kind = MST_STRATEGY_PARAMETER_SERVER, .synchronous = f->is_sync},
                       .session = {.devices = "cpu:1/1"}, /* one thread: a network this small has no work for more */
                       .task = task);
}

/* ---- a worker ---- */

typedef struct worker {
    const flags *f;
    int index;
    int64_t local_step;
    double began;
} worker;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* All servers have the variables, and this worker has their values. */
static mst_status begin_training(void *context, mst_train_state *state) {
    worker *w = context;
    (void)state;
    w->began = now();
    printf("Worker %d: Session initialization complete.\n", w->index);
    printf("Training begins @ %f\n", w->began);
    return MST_OK;
}

static mst_status end_step(void *context, mst_train_state *state) {
    worker *w = context;
    if (++w->local_step % w->f->log_steps == 0)
        printf("%f: Worker %d: training step %lld done, loss: %g (global step: %lld)\n", now(), w->index,
               (long long)w->local_step, state->step_loss, (long long)state->step);
    return MST_OK;
}

static mst_status train(worker *w, mst_model *model, mst_dataset *images, int num_workers) {
    const mst_callback callback = {.context = w, .train_begin = begin_training, .step_end = end_step};
    MST_TRY(mst_fit(model, .data = images, .batch_size = w->f->batch_size * num_workers, .steps = w->f->train_steps,
                    .drop_remainder = true, .callbacks = &callback, .num_callbacks = 1));
    const double ended = now();
    printf("Training ends @ %f\n", ended);
    printf("Training elapsed time: %f s\n", ended - w->began);
    return MST_OK;
}

static mst_status validate(const flags *f, mst_model *model, mst_dataset *images) {
    mst_result result;
    MST_TRY(mst_evaluate(model, images, f->batch_size, &result, NULL));
    const double mean = result.loss / (double)f->batch_size;
    printf("After %lld training step(s), validation cross entropy = %g\n", (long long)f->train_steps,
           mean * (double)result.examples);
    return MST_OK;
}

static mst_status train_and_validate(const flags *f, mst_task *task) {
    worker w = {.f = f, .index = mst_task_worker(task)};
    mst_dataset *training, *validation;
    mst_model *model;
    if (mst_task_is_chief(task))
        printf("Worker %d: Initializing session...\n", w.index);
    else
        printf("Worker %d: Waiting for session to be initialized...\n", w.index);
    MST_TRY(mst_model_create(&model));
    mst_status status = open_images(f, &training, &validation);
    if (!status) {
        status = compile(model, f, task);
        if (!status) status = train(&w, model, training, mst_task_num_workers(task));
        if (!status) status = validate(f, model, validation);
    }
    mst_dataset_release(validation);
    mst_dataset_release(training);
    mst_model_destroy(model); /* before the task that it uses */
    return status;
}

static mst_status work(const flags *f, const mst_cluster *cluster) {
    mst_task *task;
    MST_TRY(mst_task_open(&task, .cluster = cluster, .key_file = f->cluster_key, .log = stderr));
    mst_status status = train_and_validate(f, task);
    if (!status) status = mst_task_leave(task); /* waits until the other workers have come here too */
    mst_task_close(task);
    return status;
}

int main(int argc, char **argv) {
    flags f = {.ps_hosts = "localhost:2222",
               .worker_hosts = "localhost:2223,localhost:2224",
               .task_index = -1,
               .hidden_units = 100,
               .train_steps = 10000,
               .batch_size = 100,
               .log_steps = 1000,
               .learning_rate = 0.01};
    mst_cluster *cluster;
    if (!read_flags(argc, argv, &f)) return 2;
    if (mst_cluster_from_hosts(f.ps_hosts, f.worker_hosts, f.job_name, (int)f.task_index, &cluster))
        return fprintf(stderr, "error: %s\n", mst_error()->message), 2;
    setvbuf(stdout, NULL, _IOLBF, 0); /* each line is seen at once, also in a file */
    printf("job_name : %s\ntask_index : %d\n", f.job_name, (int)f.task_index);
    const mst_status status = strcmp(f.job_name, "worker") == 0
                                  ? work(&f, cluster)
                                  : mst_server_run(.cluster = cluster, .key_file = f.cluster_key, .log = stderr);
    mst_cluster_release(cluster);
    if (status) return fprintf(stderr, "error: %s\n", mst_error()->message), 1;
    return 0;
}
