/* A network for texts, trained by a loop of its own: of which topic is a quotation? Files of texts become numbers of
 * words, and a convolutional network learns the topics; after each epoch, under a bar with the time, come loss and
 * accuracy in training and on texts that were kept out. At the end it says what it thinks of two new texts.
 *
 * `muster train --data texts:FOLDER --validation-split 0.2` does all of this by itself.
 *
 *     examples/text_cnn FOLDER [EPOCHS] [--devices LIST] [--fit]
 *
 *   FOLDER          has a file for each topic, with a line "%" between its texts, as /usr/share/games/fortunes; where
 *                   it is not there, it is made, with texts that are made up
 *   EPOCHS          default 10
 *   --devices LIST  such as gpu, gpu:1x2, tpu:8 (default cpu:1); the loop uses the first one
 *   --fit           mst_fit in place of the loop, mirrored over all of them, with the topics among the best 5 counted
 */
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LENGTH = 300, MADE_UP = 150, BATCH = 32, LONGEST_PATH = 4096 };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* ---- texts ---- */

static const char *const topics[] = {"cooking", "sailing", "astronomy"};
static const char *const words[][8] = {{"salt", "oven", "bread", "Stir", "onion", "butter", "knife", "soup"},
                                       {"wind", "mast", "harbour", "Sail", "anchor", "tide", "deck", "keel"},
                                       {"star", "comet", "orbit", "Moon", "planet", "telescope", "galaxy", "eclipse"}};
static const char *const common[] = {"the", "a", "of", "and", "with", "It", "is", "was", "never", "always", "in", "on"};

/* The next number below BOUND of a linear congruential generator (Numerical Recipes). */
static unsigned next_number(unsigned *state, unsigned bound) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % bound;
}

/* One word in three is of the topic. */
static void make_up(const char *folder) {
    unsigned state = 1;
    char path[LONGEST_PATH];
    for (int t = 0; t < 3; t++) {
        snprintf(path, sizeof path, "%s/%s", folder, topics[t]);
        FILE *file = fopen(path, "w");
        if (!file) {
            perror(path);
            exit(1);
        }
        for (int i = 0; i < MADE_UP; i++) {
            for (unsigned n = 6 + next_number(&state, 20); n > 0; n--)
                fprintf(file, "%s%s",
                        next_number(&state, 3) ? common[next_number(&state, 12)] : words[t][next_number(&state, 8)],
                        n > 1 ? " " : ".\n%\n");
        }
        fclose(file);
    }
}

/* Numbers of words and of topics; a fifth of the texts is kept out of training. */
static void read_texts(const char *folder, mst_dataset **training, mst_dataset **validation) {
    mst_dataset *all = mst_data_vectorize_text(mst_data_from_texts(folder, NULL), .sequence_length = LENGTH);
    *training = mst_data_split(all, &(mst_split_options){.fraction = 0.2, .seed = 1, .labels = true}, validation);
    check(mst_dataset_check(*training));
}

/* Batches of DATA, shuffled anew in each epoch where TRAINING. */
static mst_dataset *batches_of(mst_dataset *data, bool training) {
    mst_dataset *rows = mst_dataset_retain(data);
    mst_dataset *batches = mst_data_batch(training ? mst_data_shuffle(rows, .seed = 2) : rows, BATCH, false);
    check(mst_dataset_check(batches));
    return batches;
}

/* ---- graph ---- */

typedef struct steps {
    mst_value texts, labels, probabilities;
    mst_value loss_sum, loss_count, correct_sum, correct_count;
    mst_value train;
} steps;

static steps build(mst_graph *g, mst_model *model) {
    steps s = {.texts = mst_placeholder(g, MST_I32, MST_SHAPE(-1, LENGTH), .name = "texts"),
               .labels = mst_placeholder(g, MST_I64, MST_SHAPE(-1), .name = "labels")};
    const mst_value logits = mst_model_call(model, s.texts, true);
    const mst_value losses = mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, s.labels, logits, true);
    const mst_metric_values loss = mst_metric_mean(losses);
    const mst_metric_values correct =
        mst_metric_batch(.metric = MST_METRIC_SPARSE_ACCURACY, .labels = s.labels, .predictions = logits);
    s.probabilities = mst_softmax(logits);
    s.loss_sum = loss.sum;
    s.loss_count = loss.count;
    s.correct_sum = correct.sum;
    s.correct_count = correct.count;
    mst_optimizer nadam = mst_nadam(.learning_rate = 0.001);
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
        mst_feed feeds[2] = {{.value = s->texts}, {.value = s->labels}};
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

static void print_bar(void) {
    char clock[16];
    const time_t now = time(NULL);
    strftime(clock, sizeof clock, "%H:%M:%S", localtime(&now));
    for (int i = 0; i < 80; i++) putchar('=');
    puts(clock);
}

static void train(mst_session *session, const steps *s, mst_dataset *training, mst_dataset *validation,
                  int64_t epochs) {
    mst_metric_state loss = {0}, accuracy = {0}, valid_loss = {0}, valid_accuracy = {0};
    mst_dataset *train_batches = batches_of(training, true), *valid_batches = batches_of(validation, false);
    for (int64_t epoch = 0; epoch < epochs; epoch++) {
        run_epoch(session, s, train_batches, epoch, true, &loss, &accuracy);
        run_epoch(session, s, valid_batches, epoch, false, &valid_loss, &valid_accuracy);
        print_bar();
        printf("Epoch=%lld,Loss:%.3f,Accuracy:%.3f,Valid Loss:%.3f,Valid Accuracy:%.3f\n", (long long)epoch + 1,
               mst_metric_result(&loss), mst_metric_result(&accuracy), mst_metric_result(&valid_loss),
               mst_metric_result(&valid_accuracy));
        fflush(stdout);
    }
    mst_dataset_release(train_batches);
    mst_dataset_release(valid_batches);
}

/* ---- new texts ---- */

/* Their words have the numbers of the training. */
static void predict(mst_session *session, const steps *s, const mst_dataset *training) {
    static const char *const text[] = {"Salt the soup, and put the bread in the oven.",
                                       "The comet was in an orbit around a star."};
    mst_tensor *texts, *probabilities = NULL;
    check(mst_tensor_create(MST_STRING, MST_SHAPE(2), &texts));
    for (int i = 0; i < 2; i++) check(mst_tensor_set_string(texts, i, mst_string_of(text[i])));
    mst_dataset *numbers = mst_data_batch(
        mst_data_vectorize_text(mst_data_from_tensors(&texts, 1), .schema = mst_dataset_schema(training)), 2, false);
    mst_iterator *iterator;
    const mst_batch *batch;
    mst_feed feed = {.value = s->texts};
    check(mst_iterator_create(numbers, 0, &iterator));
    check(mst_iterator_next(iterator, &batch));
    check(mst_batch_tensor(batch, 0, &feed.tensor));
    check(mst_session_run(session, &feed, 1, &s->probabilities, 1, &probabilities));
    const int64_t classes = mst_dataset_num_classes(training, 1);
    for (int64_t i = 0; i < 2; i++) {
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            if (mst_tensor_get(probabilities, i * classes + c) > mst_tensor_get(probabilities, i * classes + best))
                best = c;
        printf("\"%s\" is of %s (%.2f)\n", text[i], mst_dataset_class_name(training, 1, best),
               mst_tensor_get(probabilities, i * classes + best));
    }
    mst_tensor_release(probabilities);
    mst_tensor_release(feed.tensor);
    mst_tensor_release(texts);
    mst_iterator_destroy(iterator);
    mst_dataset_release(numbers);
}

/* ---- both ways ---- */

typedef struct flags {
    const char *folder, *devices;
    int64_t epochs;
    bool fits;
} flags;

static void run_loop(const flags *f, mst_model *model, mst_dataset *training, mst_dataset *validation) {
    mst_graph *g;
    mst_session *session;
    check(mst_graph_create(&g));
    mst_graph_set_seed(g, 1);
    const steps s = build(g, model);
    check(mst_session_create(g, &(mst_session_options){.devices = f->devices}, &session));
    check(mst_session_init_variables(session));
    check(mst_model_summary(model, "text_cnn", stdout));
    train(session, &s, training, validation, f->epochs);
    predict(session, &s, training);
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

static void run_fit(const flags *f, mst_model *model, mst_dataset *training, mst_dataset *validation) {
    enum { MOST = 64 };
    mst_device_info info[MOST];
    int count;
    check(mst_devices_describe(f->devices, NULL, info, MOST, &count));
    for (int i = 0; i < count && i < MOST; i++) printf("%s\n", info[i].name);
    check(mst_compile(model, .optimizer = mst_nadam(.learning_rate = 0.001),
                      .metric = {MST_METRIC_SPARSE_CATEGORICAL_ACCURACY, MST_METRIC_SPARSE_TOP_K_CATEGORICAL_ACCURACY},
                      .strategy = {.kind = MST_STRATEGY_MIRRORED}, .session = {.devices = f->devices}, .seed = 1));
    check(mst_fit(model, .data = training, .validation = validation, .batch_size = BATCH, .epochs = f->epochs,
                  .progress = stdout));
    check(mst_model_summary(model, "text_cnn", stdout));
}

static bool read_flags(int argc, char **argv, flags *f) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fit") == 0)
            f->fits = true;
        else if (strcmp(argv[i], "--devices") == 0 && i + 1 < argc)
            f->devices = argv[++i];
        else if (!f->folder)
            f->folder = argv[i];
        else
            f->epochs = atoll(argv[i]);
    }
    return f->folder && f->epochs > 0;
}

int main(int argc, char **argv) {
    flags f = {.devices = "cpu:1", .epochs = 10};
    if (!read_flags(argc, argv, &f)) {
        fprintf(stderr, "usage: text_cnn FOLDER [EPOCHS] [--devices LIST] [--fit]\n");
        return 2;
    }
    if (mkdir(f.folder, 0777) == 0) make_up(f.folder);
    mst_dataset *training, *validation;
    read_texts(f.folder, &training, &validation);
    mst_model *model;
    check(mst_model_create(&model));
    mst_text_cnn(model, .input_shape = MST_SHAPE(LENGTH), .vocabulary_size = mst_dataset_num_classes(training, 0),
                 .classes = mst_dataset_num_classes(training, 1));
    (f.fits ? run_fit : run_loop)(&f, model, training, validation);
    mst_model_destroy(model);
    mst_dataset_release(training);
    mst_dataset_release(validation);
    return 0;
}
