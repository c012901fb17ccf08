#include "support/networks.h"

#include "run/session.h"
#include "support/test.h"
#include "support/training.h"

enum { CLASSES = 3, FEATURES = 12, SIDE = 8, LENGTH = 6, WORDS = 30, TIMES = 5, CHANNELS = 2 };

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

/* ---- dense layers ---- */

static mst_model *build_mlp(void) {
    mst_model *model = new_model();
    mst_dense(model, 20, .activation = MST_RELU, .l2 = 1e-2f);
    mst_dropout(model, .rate = 0.3f);
    mst_dense(model, 10, .activation = MST_TANH, .l1 = 1e-3f);
    mst_dense(model, CLASSES);
    return model;
}

static mst_dataset *vectors(int64_t rows) {
    return training_data(rows, FEATURES, CLASSES, 3);
}

const network network_mlp = {"mlp", build_mlp, vectors};

/* ---- text ---- */

static mst_model *build_text(void) {
    mst_model *model = new_model();
    const mst_output words = mst_input(model, MST_SHAPE(LENGTH));
    const mst_output a = mst_embedding(words, WORDS, 5), b = mst_embedding(words, WORDS, 4);
    const mst_output all = mst_concatenate(MST_OUTPUTS(a, mst_share(a, words), b), .axis = 2);
    const mst_output wide = mst_conv1d(all, 8, 3, .activation = MST_RELU);
    mst_dense(mst_global_max_pooling1d(wide), CLASSES);
    return model;
}

/* A few words are in most shards, the others only in some. */
static mst_dataset *texts(int64_t rows) {
    mst_tensor *tensor[2] = {engine_random(MST_F32, MST_SHAPE(rows, LENGTH), 0, 1, 4),
                             engine_tensor(MST_I32, MST_SHAPE(rows), NULL)};
    mst_dataset *data;
    for (int64_t i = 0; i < rows * LENGTH; i++) {
        const double x = mst_tensor_get(tensor[0], i);
        mst_tensor_set(tensor[0], i, (double)(int64_t)(x * x * x * WORDS));
    }
    for (int64_t i = 0; i < rows; i++)
        mst_tensor_set(tensor[1], i, (double)((int64_t)mst_tensor_get(tensor[0], i * LENGTH) % CLASSES));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return data;
}

const network network_text = {"text", build_text, texts};

/* ---- pictures ---- */

/* Wider channels, a depthwise convolution, fewer channels, and the source is added. SYNCHRONIZED: a batch norm of the
 * source is, which is beside the others and not behind them. */
static mst_output inverted_residual(mst_output x, int64_t channels, bool synchronized) {
    mst_output y = mst_conv2d(x, 3 * channels, 1, .no_bias = true);
    y = mst_re_lu(mst_batch_normalization(y, .synchronized = synchronized), .max_value = 6);
    y = mst_depthwise_conv2d(y, 3, .padding = MST_PADDING_SAME, .no_bias = true);
    y = mst_re_lu(mst_batch_normalization(y, .synchronized = synchronized), .max_value = 6);
    y = mst_conv2d(y, channels, 1, .no_bias = true);
    y = mst_batch_normalization(y, .synchronized = synchronized);
    return mst_merge(MST_OUTPUTS(synchronized ? mst_batch_normalization(x, .synchronized = true) : x, y),
                     MST_MERGE_ADD);
}

static mst_model *build_convolutions(bool synchronized) {
    mst_model *model = new_model();
    mst_reshape_to(model, MST_SHAPE(SIDE, SIDE, 1));
    mst_conv2d(model, 4, 3, .strides = 2, .no_bias = true);
    mst_batch_normalization(model, .momentum = 0.9f, .synchronized = synchronized);
    const mst_output x = mst_re_lu(model, .max_value = 6);
    mst_dense(mst_global_average_pooling2d(inverted_residual(x, 4, synchronized)), CLASSES);
    return model;
}

static mst_model *build_pictures(void) {
    return build_convolutions(false);
}

static mst_model *build_synchronized(void) {
    return build_convolutions(true);
}

static mst_dataset *pictures(int64_t rows) {
    return training_data(rows, SIDE * SIDE, CLASSES, 3);
}

const network network_pictures = {"pictures", build_pictures, pictures};
const network network_synchronized = {"synchronized", build_synchronized, pictures};

/* ---- sequences ---- */

static mst_model *build_recurrent(void) {
    mst_model *model = new_model();
    const mst_output x = mst_reshape_to(model, MST_SHAPE(TIMES, CHANNELS));
    const mst_output y = mst_lstm(x, 4, .return_sequences = true);
    const mst_output z = mst_gru(y, 4, .return_sequences = true);
    mst_dense(mst_simple_rnn(z, 4), CLASSES);
    return model;
}

static mst_dataset *sequences(int64_t rows) {
    return training_data(rows, TIMES * CHANNELS, CLASSES, 3);
}

const network network_recurrent = {"recurrent", build_recurrent, sequences};

const network *const networks[] = {&network_mlp,          &network_text,      &network_pictures,
                                   &network_synchronized, &network_recurrent, NULL};

/* ---- training ---- */

mst_model *network_compiled(const network_run *run) {
    mst_model *model = run->network->build();
    EXPECT_OK(mst_compile(
        model, .optimizer = mst_optimizer_named(run->optimizer.rule, run->optimizer), .metric = {MST_METRIC_ACCURACY},
        .precision = run->precision,
        .strategy = {.kind = run->kind,
                     .num_shards = run->shards,
                     .first_shard = run->first_shard,
                     .num_shards_here = run->num_shards_here},
        .session = {.devices = run->devices, .recompute = run->recompute, .check_numerics = run->check_numerics},
        .seed = 5));
    if (run->in_place) atomic_store(&mst_model_session(model)->updates_in_place, true);
    return model;
}

static mst_status note_loss(void *context, mst_train_state *state) {
    double **next = context;
    *(*next)++ = state->step_loss;
    return MST_OK;
}

void network_fit(mst_model *model, const network_run *run, double *loss) {
    const mst_callback callback = {.context = &loss, .step_end = note_loss};
    mst_dataset *data = run->network->data(run->rows ? run->rows : 36);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = run->batch ? run->batch : 24,
                      .epochs = run->epochs ? run->epochs : 1, .callbacks = &callback, .num_callbacks = loss != NULL));
    mst_dataset_release(data);
}

void network_train(const network_run *run, double *loss, char hex[65]) {
    mst_model *model = network_compiled(run);
    network_fit(model, run, loss);
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_model_destroy(model);
}
