/* out_of_memory DEVICES BYTES: a training step that needs more memory than a device has, between two that fit. It must
 * fail with one clear error and change nothing: the steps beside it give the bits that they give without it. BYTES is
 * the memory of the device; 0: not known, and the step needs more than any machine has. For scripts/gpu-check.
 *
 * Prints lines "ok NAME" and "FAIL NAME: WHY", and "end" as the last one. */
#include <inttypes.h>
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 64, WEIGHTS = 8 };
static const int64_t UNKNOWN_MEMORY = INT64_C(1) << 48; /* more than addresses have bits for */

/* w is trained by the mean of (a a)^2, where a = relu(x x^T sum(w)), of n x n numbers for n numbers x. */
typedef struct job {
    mst_graph *graph;
    mst_session *session;
    mst_value x, w, fetch[2];
} job;

static mst_status begin_job(job *j, const char *devices) {
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.01);
    *j = (job){.graph = NULL};
    MST_TRY(mst_graph_create(&j->graph));
    j->x = mst_placeholder(j->graph, MST_F32, MST_SHAPE(-1), "x");
    j->w = mst_variable(j->graph, "w", mst_fill(j->graph, MST_F32, MST_SHAPE(WEIGHTS), 0.1));
    const mst_value column = mst_reshape(j->x, MST_SHAPE(-1, 1)), row = mst_reshape(j->x, MST_SHAPE(1, -1));
    const mst_value a = mst_relu(mst_mul(mst_mul(column, row), mst_reduce_sum(j->w)));
    j->fetch[0] = mst_reduce_mean(mst_square(mst_matmul(a, a)));
    j->fetch[1] = mst_minimize(&sgd, j->fetch[0], NULL, 0, MST_NONE);
    MST_TRY(mst_session_create(j->graph, &(mst_session_options){.devices = devices}, &j->session));
    return mst_session_init_variables(j->session);
}

static void end_job(job *j) {
    mst_session_destroy(j->session);
    mst_graph_destroy(j->graph);
}

/* A step with SIZE numbers x. */
static mst_status step(job *j, int64_t size) {
    mst_tensor *x = NULL, *out[2] = {NULL, NULL};
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(size), &x));
    float *data = mst_tensor_data(x);
    for (int64_t i = 0; i < size; i++) data[i] = (float)(i % 7) / 64;
    const mst_status status = mst_session_run(j->session, &(mst_feed){.value = j->x, .tensor = x}, 1, j->fetch, 2, out);
    for (int i = 0; i < 2; i++) mst_tensor_release(out[i]);
    mst_tensor_release(x);
    return status;
}

static mst_status read_weights(job *j, uint32_t weights[WEIGHTS]) {
    mst_tensor *out = NULL;
    MST_TRY(mst_session_run(j->session, NULL, 0, &j->w, 1, &out));
    memcpy(weights, mst_tensor_data(out), WEIGHTS * sizeof *weights);
    mst_tensor_release(out);
    return MST_OK;
}

static bool check(const char *name, bool good, const char *why) {
    printf(good ? "ok %s\n" : "FAIL %s: %s\n", name, why);
    fflush(stdout);
    return good;
}

static bool check_status(const char *name, mst_status status) {
    return check(name, status == MST_OK, status ? mst_error()->message : "");
}

/* The weights after two steps, and, between them, one with SIZE numbers if SIZE is not 0. */
static bool train(const char *devices, int64_t size, uint32_t weights[WEIGHTS]) {
    job j;
    bool good = check_status("a small step", begin_job(&j, devices) ? mst_error()->code : step(&j, SMALL));
    if (good && size) {
        uint32_t before[WEIGHTS], after[WEIGHTS];
        good = check_status("weights are read", read_weights(&j, before));
        const mst_status status = good ? step(&j, size) : MST_OK;
        /* the plugin for CPUs gives this error the code of any other one */
        check("a step that needs too much fails for memory",
              status == MST_OUT_OF_MEMORY || (status && strstr(mst_error()->message, "memory")),
              status ? mst_error()->message : "it did not fail");
        if (status) fprintf(stderr, "%s: %s\n", mst_status_name(status), mst_error()->message);
        good = check_status("weights are read after it", read_weights(&j, after));
        check("that step changed nothing", good && memcmp(before, after, sizeof before) == 0, "other weights");
    }
    if (good) good = check_status("the next step happens", step(&j, SMALL));
    if (good) good = check_status("weights are read at the end", read_weights(&j, weights));
    end_job(&j);
    return good;
}

int main(int argc, char **argv) {
    uint32_t with[WEIGHTS], without[WEIGHTS]; /* the bits of f32 */
    if (argc != 3) {
        fprintf(stderr, "usage: out_of_memory DEVICES BYTES\n");
        return 2;
    }
    const int64_t known = strtoll(argv[2], NULL, 10), bytes = known > 0 ? known : UNKNOWN_MEMORY;
    const int64_t size = (int64_t)sqrt(2.0 * (double)bytes / sizeof(float));
    printf("a needs %" PRId64 " x %" PRId64 " numbers\n", size, size);
    if (train(argv[1], size, with) && train(argv[1], 0, without))
        check("the steps beside it gave the bits that they give without it", memcmp(with, without, sizeof with) == 0,
              "other weights");
    puts("end");
    return 0;
}
