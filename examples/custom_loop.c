/* A training loop of your own: a graph with a training step and a validation step, metrics that begin anew in each
 * epoch, and mst_session_run for every batch. The task: to which of three spiral arms does a point of the plane belong?
 *
 * Usage: custom_loop [EPOCHS]   (default 20)
 */
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARMS = 3, POINTS = 6000, VALIDATION = 1000, BATCH = 32 };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* ---- data ---- */

/* Points on three arms that wind around the origin, with some noise, in mixed order. */
static void make_data(mst_dataset **training, mst_dataset **validation) {
    mst_tensor *tensor[2];
    check(mst_tensor_create(MST_F32, MST_SHAPE(POINTS, 2), &tensor[0]));
    check(mst_tensor_create(MST_I32, MST_SHAPE(POINTS), &tensor[1]));
    unsigned noise = 1;
    for (int i = 0; i < POINTS; i++) {
        noise = noise * 1664525u + 1013904223u;
        int place = i / ARMS, places = POINTS / ARMS; /* along its arm */
        double radius = (double)place / places, jitter = 0.2 * ((double)(noise >> 8) / (1 << 24) - 0.5);
        double angle = 5 * radius + 2 * 3.14159265358979 * (i % ARMS) / ARMS + jitter;
        mst_tensor_set(tensor[0], 2 * i, radius * cos(angle));
        mst_tensor_set(tensor[0], 2 * i + 1, radius * sin(angle));
        mst_tensor_set(tensor[1], i, i % ARMS);
    }
    mst_dataset *mixed = mst_data_shuffle(mst_data_from_tensors(tensor, 2), .seed = 1, .same_each_epoch = true);
    *training = mst_data_skip(mst_dataset_retain(mixed), VALIDATION);
    *validation = mst_data_take(mixed, VALIDATION);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
}

/* Batches of DATA, shuffled anew in each epoch where TRAINING; takes the reference. */
static mst_dataset *batches_of(mst_dataset *data, bool training) {
    mst_dataset *batches = mst_data_batch(training ? mst_data_shuffle(data, .seed = 2) : data, BATCH, false);
    check(mst_dataset_check(batches));
    return batches;
}

/* ---- graph ---- */

typedef struct steps {
    mst_value inputs, labels;
    mst_value loss_sum, loss_count, correct_sum, correct_count;
    mst_value train;
} steps;

static steps build(mst_graph *g) {
    steps s = {.inputs = mst_placeholder(g, MST_F32, MST_SHAPE(-1, 2), .name = "inputs"),
               .labels = mst_placeholder(g, MST_I32, MST_SHAPE(-1), .name = "labels")};
    mst_value h = mst_dense(s.inputs, 64, .activation = MST_RELU, .name = "layer1");
    h = mst_dense(h, 64, .activation = MST_RELU, .name = "layer2");
    mst_value logits = mst_dense(h, ARMS, .name = "logits");
    mst_value losses = mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, s.labels, logits, true);
    mst_metric_values loss = mst_metric_mean(losses);
    mst_metric_values correct =
        mst_metric_batch(.metric = MST_METRIC_SPARSE_ACCURACY, .labels = s.labels, .predictions = logits);
    s.loss_sum = loss.sum;
    s.loss_count = loss.count;
    s.correct_sum = correct.sum;
    s.correct_count = correct.count;
    mst_optimizer nadam = mst_nadam(.learning_rate = 0.002);
    s.train = mst_minimize(&nadam, mst_loss_reduce(losses, MST_NONE, MST_REDUCTION_MEAN), NULL, 0, MST_NONE);
    check(mst_graph_check(g));
    return s;
}

/* ---- loop ---- */

/* One pass over DATA; with TRAINING each batch makes an update. The metrics begin anew. */
static void run_epoch(mst_session *session, const steps *s, mst_dataset *data, int64_t epoch, bool training,
                      mst_metric_state *loss, mst_metric_state *accuracy) {
    mst_iterator *iterator;
    const mst_batch *batch;
    mst_tensor *output[5] = {NULL};
    mst_metric_reset(loss);
    mst_metric_reset(accuracy);
    check(mst_iterator_create(data, epoch, &iterator));
    for (;;) {
        check(mst_iterator_next(iterator, &batch));
        if (!batch) break;
        mst_feed feeds[2] = {{.value = s->inputs}, {.value = s->labels}};
        for (int i = 0; i < 2; i++) check(mst_batch_tensor(batch, i, &feeds[i].tensor));
        mst_value fetches[5] = {s->loss_sum, s->loss_count, s->correct_sum, s->correct_count, s->train};
        check(mst_session_run(session, feeds, 2, fetches, training ? 5 : 4, output));
        mst_metric_add(loss, mst_tensor_get(output[0], 0), mst_tensor_get(output[1], 0));
        mst_metric_add(accuracy, mst_tensor_get(output[2], 0), mst_tensor_get(output[3], 0));
        for (int i = 0; i < 2; i++) mst_tensor_release(feeds[i].tensor);
    }
    for (int i = 0; i < 5; i++) mst_tensor_release(output[i]);
    mst_iterator_destroy(iterator);
}

int main(int argc, char **argv) {
    int64_t epochs = argc > 1 ? atoll(argv[1]) : 20;
    mst_dataset *training, *validation;
    make_data(&training, &validation);
    training = batches_of(training, true);
    validation = batches_of(validation, false);
    mst_graph *g;
    mst_session *session;
    check(mst_graph_create(&g));
    mst_graph_set_seed(g, 1);
    steps s = build(g);
    /* one thread: a network this small has no work for more */
    check(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1"}, &session));
    check(mst_session_init_variables(session));
    mst_metric_state loss = {0}, accuracy = {0}, valid_loss = {0}, valid_accuracy = {0};
    for (int64_t epoch = 0; epoch < epochs; epoch++) {
        run_epoch(session, &s, training, epoch, true, &loss, &accuracy);
        run_epoch(session, &s, validation, epoch, false, &valid_loss, &valid_accuracy);
        printf("Epoch=%lld,Loss:%.3f,Accuracy:%.3f,Valid Loss:%.3f,Valid Accuracy:%.3f\n", (long long)epoch + 1,
               mst_metric_result(&loss), mst_metric_result(&accuracy), mst_metric_result(&valid_loss),
               mst_metric_result(&valid_accuracy));
    }
    mst_session_destroy(session);
    mst_graph_destroy(g);
    mst_dataset_release(training);
    mst_dataset_release(validation);
    return 0;
}
