/* Towers: the classic program for several GPUs on one machine, written out by hand. A copy of the network on each
 * device works on a batch of its own; the first device holds the variables, averages the gradients and makes the
 * update. mst_fit with the strategy "towers" does all of this in one call: this program shows what that is.
 *
 * Usage: mnist_towers [--data SPEC] [--num_gpus N] [--device TYPE] [--batch_size N] [--max_steps N] [--seed N]
 *                     [--log_device_placement] [--log_dir DIR] [--summary_steps N] [--train_dir DIR] [--save_steps N]
 *   --data       fashion-mnist (default), idx:DIR for the files of MNIST, or tfrecord:PREFIX
 *   --num_gpus   towers (default 2), each on a device of its own
 *   --device     type of these devices (default cpu: each is a logical device of the CPU); gpu: /gpu:0 and so on
 *   --batch_size of each tower (default 100)
 *   --max_steps  (default 1000)
 *   --log_dir    where to write summaries for TensorBoard (default: nowhere)
 *   --summary_steps between summaries (default 100)
 *   --train_dir  where to keep checkpoints (default: nowhere); where there is one, training goes on from it
 *   --save_steps between checkpoints (default 1000)
 */
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIXELS = 784, HIDDEN = 500, CLASSES = 10, MOST_TOWERS = 16, MOST_VARIABLES = 4, LOG_STEPS = 10 };

static const double LEARNING_RATE = 0.001, DECAY_RATE = 0.99, AVERAGE_DECAY = 0.99, L2 = 1e-4, LOSS_DECAY = 0.9;
enum { DECAY_STEPS = 600 };

/* Collections beside those of the library; each holds one value a tower, found by its name scope. */
static const char *const TOWER_LOSS = "tower_loss", *const CORRECT = "correct", *const IMAGES = "images",
                         *const LABELS = "labels", *const AVERAGES = "gradients_on_average";

typedef struct flags {
    const char *data;
    int num_gpus;
    const char *device; /* of the towers */
    int64_t batch_size, max_steps;
    uint64_t seed;
    bool log_device_placement;
    const char *log_dir;
    int64_t summary_steps;
    const char *train_dir;
    int64_t save_steps;
} flags;

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* ---- the network ---- */

/* A variable on /cpu:0, made by the first tower and shared by the others. A weight adds its penalty to the losses of
 * the tower that is being built. */
static mst_value variable(mst_graph *g, const char *name, mst_shape shape, mst_initializer initializer, double l2) {
    mst_value v = MST_NONE;
    mst_with_device (g, "/cpu:0") v = mst_get_variable(g, name, shape, .initializer = initializer);
    const mst_regularizer regularizer = mst_l2_regularizer(l2); /* l2 * sum(w^2) / 2 */
    if (l2 > 0) mst_collect(g, MST_LOSSES, mst_regularizer_value(&regularizer, v));
    return v;
}

static mst_value layer(mst_value x, const char *name, int64_t inputs, int64_t outputs) {
    mst_graph *g = mst_value_graph(x);
    mst_value y = MST_NONE;
    mst_with_variables (g, name, MST_REUSE_AUTO) {
        mst_value weights =
            variable(g, "weights", MST_SHAPE(inputs, outputs), mst_truncated_normal_initializer(.stddev = 0.1), L2);
        mst_value biases = variable(g, "biases", MST_SHAPE(outputs), mst_zeros_initializer(), 0);
        y = mst_add(mst_matmul(x, weights), biases);
    }
    return y;
}

/* The mean cross entropy of the tower's batch plus the penalties under its own name scope only. */
static mst_value tower_loss(mst_graph *g, mst_value labels, mst_value logits) {
    enum { MOST_LOSSES = 8 };
    char scope[256];
    mst_value losses[MOST_LOSSES];
    snprintf(scope, sizeof scope, "%s/", mst_name_scope(g));
    mst_collect(g, MST_LOSSES, mst_reduce_mean(mst_sparse_softmax_cross_entropy(logits, labels)));
    int count = mst_collection(g, MST_LOSSES, scope, losses, MOST_LOSSES);
    return mst_add_n(losses, count < MOST_LOSSES ? count : MOST_LOSSES);
}

static mst_value build_tower(mst_graph *g) {
    mst_value images = mst_placeholder(g, MST_U8, MST_SHAPE(-1, 28, 28), .name = "images");
    mst_value labels = mst_placeholder(g, MST_U8, MST_SHAPE(-1), .name = "labels");
    mst_value pixels = mst_reshape(mst_cast(images, MST_F32), MST_SHAPE(-1, PIXELS)); /* 0 to 255, as they are */
    mst_value logits = layer(mst_relu(layer(pixels, "layer1", PIXELS, HIDDEN)), "layer2", HIDDEN, CLASSES);
    mst_value loss = tower_loss(g, labels, logits);
    mst_metric_values correct =
        mst_metric_batch(.metric = MST_METRIC_SPARSE_ACCURACY, .labels = labels, .predictions = logits);
    mst_collect(g, IMAGES, images);
    mst_collect(g, LABELS, labels);
    mst_collect(g, TOWER_LOSS, loss);
    mst_collect(g, CORRECT, correct.sum);
    return loss;
}

/* ---- towers ---- */

/* GRADIENTS[tower][variable] to their means over the towers. */
static void average_gradients(int towers, int num_variables, mst_value gradients[][MOST_VARIABLES], mst_value *out) {
    for (int v = 0; v < num_variables; v++) {
        mst_value of_towers[MOST_TOWERS];
        for (int t = 0; t < towers; t++) of_towers[t] = gradients[t][v];
        out[v] = mst_reduce_mean(mst_stack(of_towers, towers, 0), .axes = MST_AXES(0));
    }
}

static mst_schedule learning_rate(void) {
    return mst_exponential_decay(.rate = LEARNING_RATE, .decay_rate = DECAY_RATE, .decay_steps = DECAY_STEPS);
}

/* All towers under the name scope SCOPE; with TRAINING also the update of the variables, which is returned. */
static mst_value multi_gpu_model(mst_graph *g, const flags *f, const char *scope, bool training) {
    const int towers = f->num_gpus;
    mst_value gradients[MOST_TOWERS][MOST_VARIABLES], variables[MOST_VARIABLES], train = MST_NONE;
    int num_variables = 0;
    mst_with_name (g, scope) {
        for (int t = 0; t < towers; t++) {
            char device[64], name[16];
            snprintf(device, sizeof device, "/%s:%d", f->device, t);
            snprintf(name, sizeof name, "GPU_%d", t);
            mst_with_device (g, device)
                mst_with_name (g, name) {
                    mst_value loss = build_tower(g);
                    num_variables = mst_collection(g, MST_TRAINABLE, NULL, variables, MOST_VARIABLES);
                    if (training) mst_gradients(loss, variables, num_variables, gradients[t]);
                }
        }
        if (training) {
            mst_value average[MOST_VARIABLES];
            mst_optimizer sgd =
                mst_sgd(.schedule = learning_rate(), .ema_decay = AVERAGE_DECAY, .ema_num_updates = true);
            mst_with_device (g, "/cpu:0") {
                average_gradients(towers, num_variables, gradients, average);
                for (int v = 0; v < num_variables; v++) mst_collect(g, AVERAGES, average[v]);
                train = mst_apply_gradients(&sgd, average, variables, num_variables, mst_global_step(g));
            }
        }
    }
    check(mst_graph_check(g));
    return train;
}

/* ---- running ---- */

/* The rows of a batch that one tower gets; copied by that tower's own thread. */
typedef struct rows {
    const mst_batch *batch;
    int component;
    int64_t first, count;
} rows;

static mst_status fill_rows(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    const rows *r = context;
    return mst_batch_copy(r->batch, r->component, r->first + first_row, spec->shape.dim[0], dst);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* 2019-05-15 10:35:12.345678: step 20, loss = 29.53 (10362.6 examples/sec; 0.010 sec/batch) */
static void print_step(int64_t step, double loss, int64_t examples, double seconds, int towers) {
    struct timespec time;
    struct tm parts;
    char date[32];
    clock_gettime(CLOCK_REALTIME, &time);
    localtime_r(&time.tv_sec, &parts);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
    printf("%s.%06ld: step %lld, loss = %.2f (%.1f examples/sec; %.3f sec/batch)\n", date, time.tv_nsec / 1000,
           (long long)step, loss, (double)examples / seconds, seconds / towers);
    fflush(stdout);
}

/* What is fed and fetched under one scope. */
typedef struct scope_values {
    int towers;
    mst_feed feed[2 * MOST_TOWERS];
    rows part[2 * MOST_TOWERS];
    mst_value fetch[2 * MOST_TOWERS + 1 + 2 * MOST_VARIABLES];
    mst_tensor *output[2 * MOST_TOWERS + 1 + 2 * MOST_VARIABLES];
} scope_values;

static void find_values(const mst_graph *g, const char *scope, scope_values *v) {
    mst_value images[MOST_TOWERS], labels[MOST_TOWERS];
    *v = (scope_values){.towers = mst_collection(g, IMAGES, scope, images, MOST_TOWERS)};
    mst_collection(g, LABELS, scope, labels, MOST_TOWERS);
    mst_collection(g, TOWER_LOSS, scope, v->fetch, MOST_TOWERS);
    mst_collection(g, CORRECT, scope, v->fetch + v->towers, MOST_TOWERS);
    for (int i = 0; i < 2 * v->towers; i++) {
        mst_value value = i % 2 ? labels[i / 2] : images[i / 2];
        v->feed[i] =
            (mst_feed){.value = value, .fill = fill_rows, .context = &v->part[i], .spec = mst_value_spec(value)};
        v->part[i].component = i % 2;
    }
}

/* Each tower gets a part of its own of the batch. */
static void deal_rows(scope_values *v, const mst_batch *batch) {
    int64_t size = mst_batch_size(batch), first = 0;
    for (int t = 0; t < v->towers; t++) {
        int64_t count = size / v->towers + (t < size % v->towers);
        for (int c = 0; c < 2; c++) {
            rows *part = &v->part[2 * t + c];
            part->batch = batch;
            part->first = first;
            part->count = count;
            v->feed[2 * t + c].spec.shape.dim[0] = count;
        }
        first += count;
    }
}

/* ---- checkpoints ---- */

/* Those of --train_dir; MANAGER is NULL where there are none. */
typedef struct checkpoints {
    mst_checkpoint_manager *manager;
    mst_store *store; /* of the session: weights, averages, global_step */
    int64_t every;
    bool begins; /* there was no checkpoint to go on from */
} checkpoints;

/* The step at which training begins: 0, or that of the newest checkpoint. */
static int64_t open_checkpoints(checkpoints *c, const flags *f, mst_graph *g, mst_session *session) {
    mst_tensor *step;
    *c = (checkpoints){.store = mst_session_store(session), .every = f->save_steps};
    if (!f->train_dir) return 0;
    check(mst_checkpoint_manager_open(&(mst_checkpoint_options){.directory = f->train_dir}, &c->manager));
    const mst_status status = mst_checkpoint_manager_restore(c->manager, c->store, NULL, NULL);
    c->begins = status == MST_NOT_FOUND;
    if (!c->begins) check(status);
    check(mst_session_get_variable(session, mst_global_step(g), &step));
    const int64_t first = (int64_t)mst_tensor_get(step, 0);
    mst_tensor_release(step);
    if (first > 0) printf("goes on at step %lld: %s\n", (long long)first, mst_checkpoint_manager_latest(c->manager));
    return first;
}

/* model.ckpt-STEP at step 0, each so many steps, and at the LAST. A thread writes it while training goes on. */
static void save(const checkpoints *c, int64_t step, bool last) {
    if (c->manager && (last || step % c->every == 0)) check(mst_checkpoint_manager_save(c->manager, c->store));
}

/* ---- summaries ---- */

/* A log of the training; WRITER is NULL where there is none. */
typedef struct summaries {
    mst_summary_writer *writer;
    int64_t every;
    double average_loss;
    bool any_loss;
    int num_variables;
    mst_value fetch[2 * MOST_VARIABLES]; /* averaged gradients, then variables */
} summaries;

/* Goes on at FIRST_STEP: what the log has of later steps, from a training that was killed, does not count any more. */
static void open_log(summaries *s, const flags *f, const mst_graph *g, int64_t first_step) {
    *s = (summaries){.every = f->summary_steps};
    if (!f->log_dir) return;
    const mst_summary_options options = {.resume_step = first_step};
    check(mst_summary_writer_create(f->log_dir, &options, &s->writer));
    mst_summary_graph(s->writer, g);
    s->num_variables = mst_collection(g, AVERAGES, NULL, s->fetch, MOST_VARIABLES);
    mst_collection(g, MST_TRAINABLE, NULL, s->fetch + s->num_variables, s->num_variables);
}

/* Appends what the summaries of STEP need, if it is one with summaries. */
static int add_summary_fetches(const summaries *s, int64_t step, mst_value *fetch, int num_fetches) {
    if (!s->writer || step % s->every) return num_fetches;
    memcpy(fetch + num_fetches, s->fetch, 2 * (size_t)s->num_variables * sizeof *fetch);
    return num_fetches + 2 * s->num_variables;
}

/* OUTPUT: of the fetches that were added, or NULL. */
static void write_summaries(summaries *s, int64_t step, double loss, mst_tensor **output) {
    if (!s->writer) return;
    s->average_loss = s->any_loss ? LOSS_DECAY * s->average_loss + (1 - LOSS_DECAY) * loss : loss;
    s->any_loss = true;
    const mst_schedule schedule = learning_rate();
    mst_summary_scalar(s->writer, "total_loss (raw)", loss, step);
    mst_summary_scalar(s->writer, "total_loss", s->average_loss, step);
    mst_summary_scalar(s->writer, "learning_rate", mst_schedule_at(&schedule, step), step);
    for (int v = 0; output && v < s->num_variables; v++) {
        char tag[256];
        const char *name = mst_value_name(s->fetch[s->num_variables + v]);
        snprintf(tag, sizeof tag, "gradients_on_average/%s", name);
        mst_summary_histogram(s->writer, tag, output[v], step);
        mst_summary_histogram(s->writer, name, output[s->num_variables + v], step);
    }
}

/* One epoch of DATA through the towers under SCOPE ("train/" or "test/"): only what that scope has is run. Training
 * goes on at *STEP, in the middle of the epoch where that is, and counts it up to MAX_STEPS. */
static void run_epoch(mst_session *session, const mst_graph *g, mst_dataset *data, int64_t epoch, const char *scope,
                      mst_value train_op, int64_t *step, int64_t max_steps, summaries *log, const checkpoints *kept) {
    scope_values v;
    find_values(g, scope, &v);
    int num_fetches = 2 * v.towers;
    bool training = !mst_value_is_none(train_op);
    if (training) v.fetch[num_fetches++] = train_op;
    mst_iterator *iterator;
    const mst_batch *batch;
    double loss_sum = 0, correct = 0, examples = 0;
    check(mst_iterator_create(data, epoch, &iterator));
    if (training) check(mst_iterator_skip(iterator, *step % mst_dataset_cardinality(data)));
    while (!training || *step < max_steps) {
        check(mst_iterator_next(iterator, &batch));
        if (!batch) break;
        deal_rows(&v, batch);
        double began = now(), loss = 0;
        const int all = training ? add_summary_fetches(log, *step, v.fetch, num_fetches) : num_fetches;
        check(mst_session_run(session, v.feed, 2 * v.towers, v.fetch, all, v.output));
        double seconds = now() - began;
        for (int t = 0; t < v.towers; t++) {
            double count = (double)v.part[2 * t].count;
            if (count == 0) continue;
            loss += mst_tensor_get(v.output[t], 0) * count / (double)mst_batch_size(batch);
            correct += mst_tensor_get(v.output[v.towers + t], 0);
        }
        examples += (double)mst_batch_size(batch);
        loss_sum += loss * (double)mst_batch_size(batch);
        if (training && *step % LOG_STEPS == 0) print_step(*step, loss, mst_batch_size(batch), seconds, v.towers);
        if (training) write_summaries(log, *step, loss, all > num_fetches ? v.output + num_fetches : NULL);
        if (!training) continue;
        ++*step;
        save(kept, *step, *step == max_steps);
    }
    if (examples > 0) printf("%s loss = %.4f, accuracy = %.4f\n", scope, loss_sum / examples, correct / examples);
    for (size_t i = 0; i < sizeof v.output / sizeof *v.output; i++) mst_tensor_release(v.output[i]);
    mst_iterator_destroy(iterator);
}

static mst_dataset *open_batches(const flags *f, const char *part) {
    const bool training = strcmp(part, "train") == 0;
    mst_dataset *mixed = mst_data_shuffle(mst_data_open(f->data, part), .seed = f->seed, .same_each_epoch = !training);
    mst_dataset *batches = mst_data_batch(mixed, f->batch_size * f->num_gpus, training);
    check(mst_dataset_check(batches));
    if (mst_dataset_cardinality(batches) != 0) return batches;
    fprintf(stderr, "error: %d batches of %lld are more than the data\n", f->num_gpus, (long long)f->batch_size);
    exit(1);
}

static void train(const flags *f) {
    mst_graph *g;
    mst_session *session;
    char devices[64];
    mst_dataset *training = open_batches(f, "train"), *test = open_batches(f, "test");
    check(mst_graph_create(&g));
    mst_graph_set_seed(g, f->seed);
    mst_value train_op = multi_gpu_model(g, f, "train", true);
    multi_gpu_model(g, f, "test", false);
    snprintf(devices, sizeof devices, "%s:%d", f->device, f->num_gpus);
    check(mst_session_create(
        g,
        &(mst_session_options){
            .devices = devices, .allow_soft_placement = true, .placement_log = f->log_device_placement ? stdout : NULL},
        &session));
    check(mst_session_init_variables(session));
    summaries log;
    checkpoints kept;
    int64_t step = open_checkpoints(&kept, f, g, session);
    open_log(&log, f, g, step);
    if (kept.begins) save(&kept, 0, false);
    for (int64_t epoch = step / mst_dataset_cardinality(training); step < f->max_steps; epoch++)
        run_epoch(session, g, training, epoch, "train/", train_op, &step, f->max_steps, &log, &kept);
    run_epoch(session, g, test, 0, "test/", MST_NONE, &step, f->max_steps, &log, &kept);
    check(mst_checkpoint_manager_close(kept.manager));
    check(mst_summary_writer_close(log.writer));
    mst_session_destroy(session);
    mst_graph_destroy(g);
    mst_dataset_release(training);
    mst_dataset_release(test);
}

int main(int argc, char **argv) {
    flags f = {.data = "fashion-mnist",
               .num_gpus = 2,
               .device = "cpu",
               .batch_size = 100,
               .max_steps = 1000,
               .seed = 1,
               .summary_steps = 100,
               .save_steps = 1000};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--log_device_placement") == 0) {
            f.log_device_placement = true;
            continue;
        }
        if (strcmp(argv[i], "--data") == 0)
            f.data = value;
        else if (strcmp(argv[i], "--device") == 0)
            f.device = value;
        else if (strcmp(argv[i], "--num_gpus") == 0)
            f.num_gpus = atoi(value);
        else if (strcmp(argv[i], "--batch_size") == 0)
            f.batch_size = atoll(value);
        else if (strcmp(argv[i], "--max_steps") == 0)
            f.max_steps = atoll(value);
        else if (strcmp(argv[i], "--log_dir") == 0)
            f.log_dir = value;
        else if (strcmp(argv[i], "--summary_steps") == 0)
            f.summary_steps = atoll(value);
        else if (strcmp(argv[i], "--train_dir") == 0)
            f.train_dir = value;
        else if (strcmp(argv[i], "--save_steps") == 0)
            f.save_steps = atoll(value);
        else if (strcmp(argv[i], "--seed") == 0)
            f.seed = strtoull(value, NULL, 10);
        else
            value = "";
        if (!*value || f.num_gpus < 1 || f.num_gpus > MOST_TOWERS || f.batch_size < 1 || f.max_steps < 0 ||
            f.summary_steps < 1 || f.save_steps < 1) {
            fprintf(stderr, "error: '%s %s' is not understood; see the top of mnist_towers.c\n", argv[i], value);
            return 2;
        }
        i++;
    }
    train(&f);
    return 0;
}
