/* Two tasks, each a process with a server and a session on it. Started by hand, in any order:
 *
 *   two_tasks --hosts localhost:2222,localhost:2223 --task_index 0
 *   two_tasks --hosts localhost:2222,localhost:2223 --task_index 1
 *
 * Task 1 says hello from its own session, in which a string lies on task 0. Task 0 trains a network whose first layer
 * lies on task 0 and whose second on task 1: values and gradients go between the two. Without hosts one process does
 * the same on two devices; the weights have the same bits.
 *
 * Usage: two_tasks [--hosts HOST:PORT,HOST:PORT --task_index N] [--steps N]
 */
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32, FEATURES = 6, HIDDEN = 12, NUM_VARIABLES = 2 };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* ---- the server ---- */

/* HOSTS is cut into the addresses of job "local". */
static mst_task_server *start_server(char *hosts, int index) {
    const char *const address[] = {strtok(hosts, ","), strtok(NULL, ",")};
    const mst_cluster_job job = {.name = "local", .num_tasks = 2, .address = address};
    mst_cluster *cluster;
    mst_task_server *server;
    if (!address[0] || !address[1]) {
        fprintf(stderr, "error: --hosts: give the addresses of two tasks\n");
        exit(2);
    }
    check(mst_cluster_create(
        &(mst_cluster_options){.jobs = &job, .num_jobs = 1, .job_name = "local", .task_index = index}, &cluster));
    check(mst_task_server_start(&server, .cluster = cluster, .log = stderr));
    mst_cluster_release(cluster);
    return server;
}

/* ---- task 1 ---- */

static void say_hello(const char *target) {
    mst_graph *g;
    mst_session *session;
    mst_tensor *text, *output = NULL;
    mst_value hello = MST_NONE;
    check(mst_graph_create(&g));
    check(mst_tensor_create(MST_STRING, MST_SCALAR, &text));
    check(mst_tensor_set_string(text, 0, mst_string_of("Hello, distributed TensorFlow!")));
    mst_with_device (g, "/job:local/task:0") hello = mst_identity(mst_constant(g, text));
    check(mst_session_create(g, &(mst_session_options){.placement_log = stdout, .target = target}, &session));
    check(mst_session_run(session, NULL, 0, &hello, 1, &output));
    printf("%s\n", mst_tensor_get_string(output, 0).data);
    mst_tensor_release(output);
    mst_tensor_release(text);
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

/* ---- task 0 ---- */

typedef struct network {
    mst_value variable[NUM_VARIABLES], loss, train;
} network;

/* Learns the sum of the squares of random numbers. */
static network build(mst_graph *g, const char *first, const char *second) {
    network n;
    mst_value x = MST_NONE, hidden = MST_NONE;
    mst_with_device (g, first) {
        x = mst_random_uniform(g, MST_SHAPE(ROWS, FEATURES), .low = -1, .high = 1);
        n.variable[0] = mst_variable(g, "hidden", mst_random_normal(g, MST_SHAPE(FEATURES, HIDDEN), .stddev = 0.5));
        hidden = mst_relu(mst_matmul(x, n.variable[0]));
    }
    mst_with_device (g, second) {
        n.variable[1] = mst_variable(g, "output", mst_random_normal(g, MST_SHAPE(HIDDEN, 1), .stddev = 0.5));
        const mst_value wanted = mst_reduce_sum(mst_square(x), .axes = MST_AXES(1), .keep_dims = true);
        n.loss = mst_reduce_mean(mst_square(mst_sub(mst_matmul(hidden, n.variable[1]), wanted)));
    }
    const mst_optimizer adam = mst_adam(.learning_rate = 0.02f);
    n.train = mst_minimize(&adam, n.loss, n.variable, NUM_VARIABLES, MST_NONE);
    check(mst_graph_check(g));
    return n;
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

/* TARGET NULL: on devices of this process. */
static void train(const char *target, int steps) {
    mst_graph *g;
    mst_session *session;
    mst_tensor *output[2] = {NULL, NULL};
    check(mst_graph_create(&g));
    const network n =
        build(g, target ? "/job:local/task:0/cpu:0" : "/cpu:0", target ? "/job:local/task:1/cpu:0" : "/cpu:1");
    const mst_session_options here = {.devices = "cpu:2"}, there = {.placement_log = stdout, .target = target};
    check(mst_session_create(g, target ? &there : &here, &session));
    check(mst_session_init_variables(session));
    for (int step = 1; step <= steps; step++) {
        check(mst_session_run(session, NULL, 0, MST_VALUES(n.loss, n.train), 2, output));
        if (step % 10 == 0) printf("step %d, loss = %.6f\n", step, mst_tensor_get(output[0], 0));
    }
    printf("weights after %d steps: %016llx\n", steps, (unsigned long long)hash_weights(session, &n));
    mst_tensor_release(output[0]);
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

int main(int argc, char **argv) {
    char *hosts = NULL;
    int index = -1, steps = 50;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--hosts") == 0)
            hosts = argv[i + 1];
        else if (strcmp(argv[i], "--task_index") == 0)
            index = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--steps") == 0)
            steps = atoi(argv[i + 1]);
        else
            steps = 0;
    }
    if (argc % 2 == 0 || steps < 1 || (hosts != NULL) != (index == 0 || index == 1)) {
        fprintf(stderr, "error: usage: two_tasks [--hosts HOST:PORT,HOST:PORT --task_index 0|1] [--steps N]\n");
        return 2;
    }
    if (!hosts) {
        train(NULL, steps);
        return 0;
    }
    mst_task_server *server = start_server(hosts, index);
    const char *target = mst_task_server_target(server);
    printf("target %s\n", target);
    if (index == 0)
        train(target, steps);
    else
        say_hello(target);
    check(mst_task_server_join(server)); /* until the other one has done its work too */
    mst_task_server_destroy(server);
    return 0;
}
