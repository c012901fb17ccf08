/* Which device computes what: variables and constants on devices of choice, the log of placements, soft placement, one
 * large product on each device, and devices with limits.
 *
 * Usage: placement [--small] [--times N] [--device TYPE] [--devices LIST]
 *   --small         a small product in place of one of 10000 x 100 by 100 x 100000, which takes 4 GB
 *   --times N       how often the second program prints its values (default 2; 0: for ever)
 *   --device TYPE   of the devices in the programs (default cpu: /cpu:0 and /cpu:1); gpu: /gpu:0 and /gpu:1
 *   --devices LIST  those of the sessions (default cpu:2). What asks for a device that is not in it is on the CPU, as
 *                   the log shows. With GPUs: --device gpu --devices gpu:2. Then the limits are those of a GPU and of
 *                   two logical ones on it
 */
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* The options. */
typedef struct flags {
    bool small;
    int times;
    const char *device, *devices;
} flags;

enum { NAME = 64 };

/* The name of device INDEX of the programs, such as "/gpu:1". */
static const char *device_name(const flags *f, int index, char name[NAME]) {
    snprintf(name, NAME, "/%s:%d", f->device, index);
    return name;
}

static mst_graph *new_graph(void) {
    mst_graph *graph;
    check(mst_graph_create(&graph));
    return graph;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_matrix(const char *name, const mst_tensor *tensor) {
    mst_shape shape = mst_tensor_shape(tensor);
    printf("%s = [", name);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++)
        printf("%s%g", i == 0 ? "" : i % shape.dim[shape.ndim - 1] == 0 ? "; " : ", ", mst_tensor_get(tensor, i));
    printf("]\n");
}

/* Runs both fetches at once, TIMES times over (0: for ever), and prints them. */
static void print_two(mst_session *session, mst_value sum, mst_value product, int times) {
    mst_tensor *output[2] = {NULL, NULL};
    for (int i = 0; times == 0 || i < times; i++) {
        check(mst_session_run(session, NULL, 0, MST_VALUES(sum, product), 2, output));
        print_matrix("w + b", output[0]);
        print_matrix("w * b", output[1]);
    }
    for (int i = 0; i < 2; i++) mst_tensor_release(output[i]);
}

/* ---- variables on one device, what is made of them on others ---- */

static mst_value made_at_once(mst_graph *g, const char *name, double value) {
    return mst_variable(g, name, mst_fill(g, MST_F32, MST_SHAPE(2, 2), value));
}

static mst_value got_by_name(mst_graph *g, const char *name, double value) {
    return mst_get_variable(g, name, MST_SHAPE(2, 2), .initializer = mst_constant_initializer(value));
}

static void variables(const flags *f, mst_value (*variable)(mst_graph *, const char *, double), int times) {
    mst_graph *g = new_graph();
    char name[NAME];
    mst_value w = MST_NONE, b = MST_NONE, sum = MST_NONE, product = MST_NONE;
    mst_with_device (g, "/cpu:0") {
        w = variable(g, "w", 2);
        b = variable(g, "b", 5);
    }
    mst_with_device (g, device_name(f, 0, name)) sum = mst_rename(mst_add(w, b), "sum");
    mst_with_device (g, device_name(f, 1, name)) product = mst_rename(mst_mul(w, b), "product");
    mst_session *session;
    check(mst_session_create(
        g, &(mst_session_options){.devices = f->devices, .allow_soft_placement = true, .placement_log = stdout},
        &session));
    check(mst_session_init_variables(session));
    print_two(session, sum, product, times);
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

/* ---- named constants, with the log of placements ---- */

/* c = a + b with c on DEVICE. Without SOFT placement a device that is not there is an error. */
static void constants(const char *device, bool soft) {
    mst_graph *g = new_graph();
    mst_value a = mst_rename(mst_values(g, MST_F32, MST_SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6}), "a");
    mst_value b = mst_rename(mst_values(g, MST_F32, MST_SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6}), "b"), c;
    mst_with_device (g, device) c = mst_rename(mst_add(a, b), "c");
    mst_session *session;
    check(mst_session_create(
        g, &(mst_session_options){.devices = "cpu:2", .allow_soft_placement = soft, .placement_log = stdout},
        &session));
    mst_tensor *output = NULL;
    if (mst_session_run(session, NULL, 0, &c, 1, &output))
        printf("as expected: %s\n", mst_error()->message);
    else
        print_matrix("c", output);
    mst_tensor_release(output);
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

/* ---- one large product on each device ---- */

static void large_product(const char *devices, const char *device, const flags *f) {
    mst_graph *g = new_graph();
    int64_t rows = f->small ? 100 : 10000, columns = f->small ? 1000 : 100000;
    mst_value sum;
    mst_with_device (g, device) {
        mst_value a = mst_random_uniform(g, MST_SHAPE(rows, 100), .low = 0, .high = 3);
        mst_value b = mst_random_uniform(g, MST_SHAPE(100, columns), .low = 0, .high = 3);
        sum = mst_reduce_sum(mst_matmul(a, b));
    }
    mst_session *session;
    check(mst_session_create(g, &(mst_session_options){.devices = devices, .allow_soft_placement = true}, &session));
    mst_tensor *output = NULL;
    double began = now();
    check(mst_session_run(session, NULL, 0, &sum, 1, &output));
    printf("%s of %s: sum %.5g in %.3f s\n", device, devices, mst_tensor_get(output, 0), now() - began);
    mst_tensor_release(output);
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

/* ---- devices and their limits ---- */

static void list_devices(const char *spec) {
    enum { MOST = 8 };
    mst_device_info info[MOST];
    int count;
    check(mst_devices_describe(spec, NULL, info, MOST, &count));
    printf("devices of \"%s\":\n", spec);
    for (int i = 0; i < count && i < MOST; i++) {
        if (info[i].physical < 0)
            printf("  %s, %d threads\n", info[i].name, info[i].num_threads);
        else
            printf("  %s, on physical device %d, %s\n", info[i].name, info[i].physical, info[i].kind);
    }
}

/* A session that sees only some of its devices. */
static void list_visible(const char *devices, const char *visible) {
    mst_graph *g = new_graph();
    mst_session *session;
    check(mst_session_create(g, &(mst_session_options){.devices = devices, .visible_devices = visible}, &session));
    printf("visible of \"%s\" with \"%s\":\n", devices, visible);
    for (int i = 0; i < mst_session_num_devices(session); i++) printf("  %s\n", mst_session_device(session, i));
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

/* A step that needs about 12 MB, on DEVICES with MEGABYTES (of 2^20 bytes) each. */
static void limited(const char *devices, int64_t megabytes) {
    mst_graph *g = new_graph();
    mst_value x = mst_random_uniform(g, MST_SHAPE(1000, 1000));
    mst_value sum = mst_reduce_sum(mst_matmul(x, mst_transpose(x)));
    mst_session *session;
    check(mst_session_create(g, &(mst_session_options){.devices = devices, .memory_limit = megabytes << 20}, &session));
    if (mst_session_run(session, NULL, 0, &sum, 1, NULL))
        printf("%s with %lld MB: %s\n", devices, (long long)megabytes, mst_error()->message);
    else
        printf("%s with %lld MB each: the step takes %.1f MB\n", devices, (long long)megabytes,
               (double)mst_session_device_memory(session, 0) / (1 << 20));
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

/* Limits of one device, and of two logical ones: of a CPU its cores are shared, of a GPU its memory too. */
static void list_and_limit(const flags *f) {
    const bool physical = strncmp(f->devices, "gpu", 3) == 0 || strncmp(f->devices, "tpu", 3) == 0;
    char one[NAME], two[NAME];
    snprintf(one, NAME, "%.3s%s", physical ? f->devices : "cpu", physical ? ":1" : "");
    snprintf(two, NAME, "%.3s%s", one, physical ? ":1x2" : ":2");
    list_devices(one);
    list_devices(two);
    list_visible(physical ? two : "cpu:4/1", physical ? "1" : "0,2");
    limited(one, 4096);
    limited(two, 1024);
    limited(one, 5);
}

int main(int argc, char **argv) {
    flags f = {.times = 2, .device = "cpu", .devices = "cpu:2"};
    char name[NAME];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0) {
            f.small = true;
        } else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc) {
            f.times = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            f.device = argv[++i];
        } else if (strcmp(argv[i], "--devices") == 0 && i + 1 < argc) {
            f.devices = argv[++i];
        } else {
            fprintf(stderr, "error: usage: placement [--small] [--times N] [--device TYPE] [--devices LIST]\n");
            return 2;
        }
    }
    variables(&f, made_at_once, 1);
    variables(&f, got_by_name, f.times);
    constants("", false);
    constants("/cpu:1", false);
    constants("/gpu:1", false);
    constants("/gpu:1", true);
    large_product("cpu", "/cpu:0", &f);
    large_product(f.devices, device_name(&f, 1, name), &f);
    list_and_limit(&f);
    return 0;
}
