/* A generative adversarial network: two networks that are trained in turns, each with its own variables. The generator
 * makes numbers of noise, and the discriminator tells them from real numbers. These are drawn from a normal
 * distribution of mean 3 and standard deviation 0.5. At the end, the generator's numbers have about that mean.
 *
 * Usage: gan [UPDATES]   (default 2000)
 */
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 64, NOISE = 4, MOST_VARIABLES = 16 };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

typedef struct networks {
    mst_value generated, discriminate, generate; /* numbers [BATCH, 1], and the updates of the two */
} networks;

static networks build(mst_graph *g) {
    mst_value variable[MOST_VARIABLES];
    const mst_value noise = mst_random_normal(g, MST_SHAPE(BATCH, NOISE));
    const mst_value real = mst_random_normal(g, MST_SHAPE(BATCH, 1), .mean = 3, .stddev = 0.5);
    const mst_value hidden = mst_dense(noise, 16, .activation = MST_RELU, .name = "generator1");
    const mst_value made = mst_dense(hidden, 1, .name = "generator2");
    const int num_generator = mst_collection(g, MST_TRAINABLE, NULL, NULL, 0);
    /* the discriminator sees real numbers, labeled 1, and made ones, labeled 0, in one batch */
    const mst_value both = mst_concat(MST_VALUES(real, made), 2, 0);
    const mst_value one = mst_ones_like(real), zero = mst_zeros_like(real);
    const mst_value seen = mst_dense(both, 32, .activation = MST_RELU, .name = "discriminator1");
    const mst_value logits = mst_dense(seen, 1, .name = "discriminator2");
    const int num_all = mst_collection(g, MST_TRAINABLE, NULL, variable, MOST_VARIABLES);
    const mst_value told =
        mst_loss_per_example(MST_LOSS_BINARY_CROSSENTROPY, mst_concat(MST_VALUES(one, zero), 2, 0), logits, true);
    const mst_value of_made = mst_slice(logits, MST_SHAPE(BATCH, 0), MST_SHAPE(BATCH, 1));
    const mst_value fooled = mst_loss_per_example(MST_LOSS_BINARY_CROSSENTROPY, one, of_made, true);
    mst_optimizer adam = mst_adam(.learning_rate = 0.002, .beta_1 = 0.5);
    const networks n = {.generated = made,
                        .discriminate = mst_minimize(&adam, mst_loss_reduce(told, MST_NONE, MST_REDUCTION_MEAN),
                                                     variable + num_generator, num_all - num_generator, MST_NONE),
                        .generate = mst_minimize(&adam, mst_loss_reduce(fooled, MST_NONE, MST_REDUCTION_MEAN), variable,
                                                 num_generator, MST_NONE)};
    check(mst_graph_check(g));
    return n;
}

int main(int argc, char **argv) {
    const int updates = argc > 1 ? atoi(argv[1]) : 2000;
    mst_graph *g;
    mst_session *session;
    mst_tensor *output = NULL;
    check(mst_graph_create(&g));
    mst_graph_set_seed(g, 1);
    const networks n = build(g);
    check(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1"}, &session));
    check(mst_session_init_variables(session));
    for (int i = 0; i < updates; i++) {
        check(mst_session_run(session, NULL, 0, &n.discriminate, 1, &output));
        check(mst_session_run(session, NULL, 0, &n.generate, 1, &output));
    }
    double sum = 0, squares = 0;
    const int batches = 50;
    for (int i = 0; i < batches; i++) {
        check(mst_session_run(session, NULL, 0, &n.generated, 1, &output));
        for (int k = 0; k < BATCH; k++) {
            const double x = mst_tensor_get(output, k);
            sum += x;
            squares += x * x;
        }
    }
    const double mean = sum / (batches * BATCH);
    printf("generated: mean %.2f, standard deviation %.2f\n", mean, sqrt(squares / (batches * BATCH) - mean * mean));
    mst_tensor_release(output);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    return 0;
}
