/** The C side of optimizers_test.py: `parity_optimizers FILE.npz` trains the 784-500-10 network with each optimizer
 *  from the weights and batches of FILE, and prints one JSON line an optimizer, the losses before each update. */
#include <stdio.h>
#include <stdlib.h>

#include "format/npz.h"
#include "muster/layer.h"
#include "muster/loss.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "muster/strategy.h"

enum { NUM_WEIGHTS = 4 };

typedef struct problem {
    mst_tensor *weights[NUM_WEIGHTS], *images, *labels; /* images [steps, n, 784], labels [steps, n] */
    int64_t steps, batch;
} problem;

static mst_status read_problem(const char *path, problem *p) {
    static const char *const names[NUM_WEIGHTS] = {"weights1", "biases1", "weights2", "biases2"};
    mst_npz *npz;
    MST_TRY(mst_npz_open(path, &npz));
    mst_status status = MST_OK;
    for (int i = 0; i < NUM_WEIGHTS && !status; i++) status = mst_npz_read(npz, names[i], &p->weights[i]);
    if (!status) status = mst_npz_read(npz, "images", &p->images);
    if (!status) status = mst_npz_read(npz, "labels", &p->labels);
    mst_npz_close(npz);
    if (status) return status;
    p->steps = mst_tensor_shape(p->labels).dim[0];
    p->batch = mst_tensor_shape(p->labels).dim[1];
    return MST_OK;
}

static mst_value weights(mst_graph *graph, const problem *p, int i) {
    static const char *const names[NUM_WEIGHTS] = {"weights1", "biases1", "weights2", "biases2"};
    return mst_get_variable(.graph = graph, .name = names[i], .shape = mst_tensor_shape(p->weights[i]),
                            .initializer = mst_tensor_initializer(p->weights[i]));
}

/* Part STEP of TENSOR, in its own memory. */
static mst_status part(const mst_tensor *tensor, int64_t step, mst_tensor **out) {
    mst_shape shape = mst_tensor_shape(tensor);
    size_t bytes = mst_tensor_bytes(tensor) / (size_t)shape.dim[0];
    mst_shape rows = mst_shape_make(shape.ndim - 1, shape.dim + 1);
    char *data = (char *)mst_tensor_data(tensor) + (size_t)step * bytes;
    return mst_tensor_wrap(mst_tensor_dtype(tensor), rows, data, NULL, NULL, out);
}

static mst_status train(mst_session *session, const problem *p, const mst_value *inputs, const mst_value *fetches) {
    mst_tensor *outputs[2] = {NULL, NULL};
    mst_status status = mst_session_init_variables(session);
    for (int64_t step = 0; step < p->steps && !status; step++) {
        mst_tensor *images = NULL, *labels = NULL;
        status = part(p->images, step, &images);
        if (!status) status = part(p->labels, step, &labels);
        mst_feed feeds[2] = {{.value = inputs[0], .tensor = images}, {.value = inputs[1], .tensor = labels}};
        if (!status) status = mst_session_run(session, feeds, 2, fetches, 2, outputs);
        if (!status) printf("%s%.9g", step ? ", " : "", mst_tensor_get(outputs[0], 0));
        mst_tensor_release(images);
        mst_tensor_release(labels);
    }
    mst_tensor_release(outputs[0]);
    mst_tensor_release(outputs[1]);
    return status;
}

static mst_status run(const char *name, mst_optimizer optimizer, const problem *p) {
    mst_graph *graph;
    mst_session *session = NULL;
    MST_TRY(mst_graph_create(&graph));
    mst_value images = mst_placeholder(.graph = graph, .name = "images", .shape = MST_SHAPE(p->batch, 784));
    mst_value labels =
        mst_placeholder(.graph = graph, .name = "labels", .dtype = MST_I64, .shape = MST_SHAPE(p->batch));
    mst_value hidden = mst_relu(mst_add(mst_matmul(.a = images, .b = weights(graph, p, 0)), weights(graph, p, 1)));
    mst_value logits = mst_add(mst_matmul(.a = hidden, .b = weights(graph, p, 2)), weights(graph, p, 3));
    mst_value losses = mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, labels, logits, true);
    mst_value loss = mst_reduce_mean(.src = losses);
    mst_value update = mst_minimize(&optimizer, loss, NULL, 0, MST_NONE);
    mst_status status = mst_graph_check(graph);
    if (!status) status = mst_session_create(graph, &(mst_session_options){.devices = "cpu:1"}, &session);
    if (!status) {
        printf("{\"optimizer\": \"%s\", \"losses\": [", name);
        status = train(session, p, (const mst_value[]){images, labels}, (const mst_value[]){loss, update});
        printf("]}\n");
    }
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return status;
}

static mst_status run_all(const char *path) {
    const struct {
        const char *name;
        mst_optimizer optimizer;
    } cases[] = {
        {"sgd", mst_sgd(.learning_rate = 0.02)},
        {"momentum", mst_sgd(.learning_rate = 0.005, .momentum = 0.9)},
        {"nesterov", mst_sgd(.learning_rate = 0.005, .momentum = 0.9, .nesterov = true)},
        {"adagrad", mst_adagrad(.learning_rate = 0.005)},
        {"rmsprop", mst_rmsprop(.learning_rate = 0.0001)},
        {"rmsprop_centered_momentum",
         mst_rmsprop(.learning_rate = 0.0002, .rho = 0.95, .momentum = 0.5, .centered = true, .epsilon = 1e-3)},
        {"adam", mst_adam(.learning_rate = 0.0002)},
        {"adam_amsgrad", mst_adam(.learning_rate = 0.0002, .amsgrad = true)},
        {"adamw", mst_adamw(.learning_rate = 0.0002, .weight_decay = 0.01)},
        {"nadam", mst_nadam(.learning_rate = 0.0002)},
        {"ftrl", mst_ftrl(.learning_rate = 0.05, .l1_strength = 0.001, .l2_strength = 0.001, .l2_shrinkage = 0.0001,
                          .beta = 0.1)},
    };
    problem p = {.steps = 0};
    mst_status status = read_problem(path, &p);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !status; i++)
        status = run(cases[i].name, cases[i].optimizer, &p);
    for (int i = 0; i < NUM_WEIGHTS; i++) mst_tensor_release(p.weights[i]);
    mst_tensor_release(p.images);
    mst_tensor_release(p.labels);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.npz (made by optimizers_test.py --make)\n", argv[0]);
        return 2;
    }
    if (run_all(argv[1]) == MST_OK) return 0;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    return 1;
}
