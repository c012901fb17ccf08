/* Nodes that are placed on the CPU beside devices that compile: nodes that these devices cannot run, numbers of the
 * step, and first values. */
#include "support/test.h"

#include "graph/graph.h"
#include "muster/hlo.h"
#include "support/compiling.h"

#define ACCEL0 "/device:ACCEL:0"
#define ACCEL1 "/device:ACCEL:1"
#define CPU0 "/device:CPU:0"

/* An op without text. */
static mst_status twice_infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}
static mst_status twice_kernel(const mst_kernel_args *a) {
    for (int64_t i = 0; i < a->dst[0].count; i++) ((float *)a->dst[0].data)[i] = 2 * ((const float *)a->src[0].data)[i];
    return MST_OK;
}
static const mst_op twice = {.name = "test_twice",
                             .num_src = 1,
                             .num_dst = 1,
                             .dtypes = MST_DTYPE_BIT(MST_F32),
                             .infer = twice_infer,
                             .reference = twice_kernel};

static char *placed(mst_graph *g, const char *devices, bool soft, mst_value fetch) {
    char *log;
    EXPECT_OK(compiling_place(g, devices, soft, NULL, fetch, &log));
    return log;
}

static void nodes_that_can_be_compiled_go_to_the_device(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_rename(mst_random_uniform(g, MST_SHAPE(3, 3)), "x");
    mst_value y = MST_NONE;
    mst_with_device (g, "/device:ACCEL:1") y = mst_rename(mst_matmul(x, x), "y");
    char *log = placed(g, "accel:2", false, y);
    compiling_expect(log, "x", ACCEL0);
    compiling_expect(log, "y", ACCEL1);
    free(log);
    mst_graph_destroy(g);
}

static mst_status no_rows(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    (void)context, (void)spec, (void)first_row, (void)dst;
    return MST_OK;
}

static void feeds_variables_and_groups_need_no_program(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(2), 0));
    const mst_value x = engine_input(g, "x", MST_SHAPE(2));
    const mst_value written = mst_rename(mst_assign(v, mst_add(v, x)), "written");
    const mst_value all = mst_rename(mst_group(&written, 1), "all");
    const mst_feed feed = {.value = x, .fill = no_rows, .spec = {MST_F32, MST_SHAPE(2)}};
    char *log;
    EXPECT_OK(compiling_place(g, "accel", false, &feed, all, &log));
    compiling_expect(log, "v", ACCEL0);
    compiling_expect(log, "x", ACCEL0);
    compiling_expect(log, "written", ACCEL0);
    compiling_expect(log, "all", ACCEL0);
    free(log);
    mst_graph_destroy(g);
}

static void nodes_without_text_that_ask_for_no_device_go_to_the_cpu(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_rename(mst_random_uniform(g, MST_SHAPE(3)), "x");
    mst_value y = mst_rename(mst_call(g, &twice, 1, &x, NULL), "y");
    mst_with_device (g, "/task:0") y = mst_rename(mst_call(g, &twice, 1, &y, NULL), "z");
    char *log = placed(g, "accel", false, y);
    compiling_expect(log, "x", ACCEL0);
    compiling_expect(log, "y", CPU0);
    compiling_expect(log, "z", CPU0);
    free(log);
    mst_graph_destroy(g);
}

static void nodes_without_text_that_ask_for_the_device_need_soft_placement(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_random_uniform(g, MST_SHAPE(3));
    mst_value y = MST_NONE;
    mst_with_device (g, "/device:ACCEL:0") y = mst_rename(mst_call(g, &twice, 1, &x, NULL), "y");
    char *log = placed(g, "accel:2", true, y);
    compiling_expect(log, "y", CPU0);
    assert_non_null(strstr(log, CPU0 ", moved from " ACCEL0 "\n"));
    free(log);
    EXPECT_ERROR(
        compiling_place(g, "accel:2", false, NULL, y, &log), MST_INVALID,
        "node 'y' (test_twice) was put on /job:localhost/replica:0/task:0/device:ACCEL:0, which cannot run it; "
        "it could run on /job:localhost/replica:0/task:0/device:CPU:0: change the device scope or allow soft "
        "placement");
    assert_null(log);
    EXPECT_ERROR(compiling_place(g, "cpu:2/1", false, NULL, y, &log), MST_INVALID, "ACCEL:0, which is not there");
    mst_graph_destroy(g);
}

/* As a strategy chooses the devices of its replicas. A scope of the user inside counts before it. */
static void nodes_without_text_on_a_device_that_the_library_chose_go_to_the_cpu(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = MST_NONE, y = MST_NONE, z = MST_NONE, asked = MST_NONE;
    char *log;
    mst_with_soft_device (g, "/device:ACCEL:1") {
        x = mst_rename(mst_random_uniform(g, MST_SHAPE(3)), "x");
        y = mst_rename(mst_call(g, &twice, 1, &x, NULL), "y");
        mst_with_device (g, "/task:0") z = mst_rename(mst_call(g, &twice, 1, &y, NULL), "z");
        mst_with_device (g, ACCEL0) asked = mst_rename(mst_call(g, &twice, 1, &y, NULL), "asked");
    }
    log = placed(g, "accel:2", false, z);
    compiling_expect(log, "x", ACCEL1);
    compiling_expect(log, "y", CPU0);
    compiling_expect(log, "z", CPU0);
    free(log);
    EXPECT_ERROR(compiling_place(g, "accel:2", false, NULL, asked, &log), MST_INVALID, "node 'asked' (test_twice)");
    mst_graph_destroy(g);
}

/* Whatever the numbers of their values are. */
static void nodes_with_several_outputs_are_compiled(void **state) {
    (void)state;
    enum { NODES = 20 };
    mst_graph *g = engine_graph();
    const mst_value x = mst_random_uniform(g, MST_SHAPE(4, 2));
    const mst_value gamma = mst_random_uniform(g, MST_SHAPE(2)), beta = mst_random_uniform(g, MST_SHAPE(2));
    mst_value norm[NODES];
    char name[16];
    mst_with_device (g, ACCEL1)
        for (int i = 0; i < NODES; i++) {
            snprintf(name, sizeof name, "norm_%d", i);
            norm[i] = mst_rename(mst_batch_norm(i ? norm[i - 1] : x, gamma, beta), name);
        }
    char *log = placed(g, "accel:2", false, norm[NODES - 1]);
    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "norm_%d", i);
        compiling_expect(log, name, ACCEL1);
    }
    free(log);
    mst_graph_destroy(g);
}

static void strings_and_their_look_ups_go_to_the_cpu(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value words = mst_placeholder(g, MST_STRING, MST_SHAPE(2), "words");
    const mst_value last = mst_rename(mst_string_scalar(g, "c"), "last");
    const mst_value all =
        mst_rename(mst_concat((const mst_value[]){words, mst_reshape(last, MST_SHAPE(1))}, 2, 0), "all");
    const mst_value hash = mst_rename(mst_string_to_hash_bucket_fast(all, 10), "hash");
    const mst_value y = mst_rename(mst_add(mst_cast(hash, MST_F32), mst_random_uniform(g, MST_SHAPE(3))), "y");
    const mst_feed feed = {.value = words, .fill = no_rows, .spec = {MST_STRING, MST_SHAPE(2)}};
    char *log;
    EXPECT_OK(compiling_place(g, "accel", false, &feed, y, &log));
    compiling_expect(log, "words", CPU0);
    compiling_expect(log, "last", CPU0);
    compiling_expect(log, "all", CPU0);
    compiling_expect(log, "hash", CPU0);
    compiling_expect(log, "y", ACCEL0);
    free(log);
    mst_graph_destroy(g);
}

static void add_up(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], s->x[0]);
}
static void add_up_twice(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], mst_call(mst_value_graph(s->x[0]), &twice, 1, &s->x[0], NULL));
}
static void add_up_rows(mst_loop_step *s) {
    s->next[0] = mst_scan(add_up_twice, .carry = {s->carry[0]}, .x = {s->x[0]});
}

static void loop_whose_body_has_a_node_without_text_goes_to_the_cpu(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_random_uniform(g, MST_SHAPE(4)), rows = mst_random_uniform(g, MST_SHAPE(4, 3));
    const mst_value zero = mst_scalar(g, MST_F32, 0);
    const mst_value y = mst_rename(mst_scan(add_up, .carry = {zero}, .x = {x}), "y");
    const mst_value z = mst_rename(mst_scan(add_up_twice, .carry = {y}, .x = {x}), "z");
    const mst_value nested = mst_rename(mst_scan(add_up_rows, .carry = {z}, .x = {rows}), "nested");
    char *log = placed(g, "accel", false, nested);
    compiling_expect(log, "y", ACCEL0);
    compiling_expect(log, "z", CPU0);
    compiling_expect(log, "nested", CPU0);
    free(log);
    mst_graph_destroy(g);
}

/* ---- numbers of the step ---- */

static mst_value number(mst_graph *g, const char *name, mst_state_kind kind) {
    return mst_variable(g, name, mst_scalar(g, MST_F32, 0), .hidden = true, .kind = (int)kind);
}

static void numbers_of_the_step_are_on_the_cpu(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value written[MST_NUM_STATE_KINDS];
    mst_with_device (g, "/device:ACCEL:1") {
        for (int k = 0; k < MST_NUM_STATE_KINDS; k++) {
            const mst_value v = number(g, mst_state_kind_names[k], (mst_state_kind)k);
            written[k] = mst_rename(mst_assign_add(v, mst_scalar(g, MST_F32, 1)), mst_state_kind_names[k]);
        }
    }
    char *log = placed(g, "accel:2", false, mst_group(written, MST_NUM_STATE_KINDS));
    for (int k = 0; k < MST_NUM_STATE_KINDS; k++) {
        const bool is_weight = k == MST_STATE_WEIGHT || k == MST_STATE_SLOT || k == MST_STATE_AVERAGE;
        compiling_expect(log, mst_state_kind_names[k], is_weight ? ACCEL1 : CPU0);
        compiling_expect(log, mst_value_name(written[k]), is_weight ? ACCEL1 : CPU0);
    }
    assert_non_null(strstr(log, CPU0 ", moved from " ACCEL1 "\n"));
    free(log);
    log = placed(g, "accel,cpu:2/1,accel", false, mst_group(written, MST_NUM_STATE_KINDS)); /* the first CPU listed */
    compiling_expect(log, "step", CPU0);
    free(log);
    mst_graph_destroy(g);
}

static void number_that_is_mirrored_has_one_copy(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value step = mst_global_step(g), w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(2), 0));
    mst_variable_mirror(step, ACCEL1 "," ACCEL0);
    mst_variable_mirror(w, ACCEL1 "," ACCEL0);
    char *log = placed(g, "accel:2", false, mst_group((const mst_value[]){step, w}, 2));
    compiling_expect(log, "global_step", CPU0);
    compiling_expect(log, "w", ACCEL1);
    assert_non_null(strstr(log, "w is on " ACCEL1 "," ACCEL0 "\n"));
    assert_null(strstr(log, "global_step is on"));
    free(log);
    mst_graph_destroy(g);
}

static void update_is_where_the_weights_are(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value w = MST_NONE;
    mst_with_device (g, "/device:ACCEL:1") w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(2), 0));
    const mst_optimizer nadam = mst_optimizer_named("nadam", (mst_optimizer){0}); /* its rule has a number */
    const mst_value train = mst_minimize(&nadam, mst_reduce_sum(mst_square(w)), NULL, 0, MST_NONE);
    char *log = placed(g, "accel:2", false, train);
    compiling_expect(log, "nadam/state", CPU0);
    compiling_expect(log, "learning_rate", CPU0);
    compiling_expect(log, "global_step", CPU0);
    compiling_expect(log, "w/m", ACCEL1);
    compiling_expect(log, "update/apply_gradients", ACCEL1);
    free(log);
    mst_graph_destroy(g);
}

/* A writer without text. */
static bool writes_first(const void *options, int num_src, int i) {
    (void)options, (void)num_src;
    return i == 0;
}
static const mst_op double_it = {.name = "test_double_it",
                                 .num_src = 1,
                                 .num_dst = 1,
                                 .dtypes = MST_DTYPE_BIT(MST_F32),
                                 .flags = MST_OP_STATEFUL | MST_OP_VIEW,
                                 .infer = twice_infer,
                                 .writes = writes_first,
                                 .reference = twice_kernel};

/* With text, but its output is not the variable: a program could not say what the new value is. */
static void double_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_binary(l, "add", l->src[0], l->src[0]);
}
static const mst_op double_beside = {.name = "test_double_beside",
                                     .num_src = 1,
                                     .num_dst = 1,
                                     .dtypes = MST_DTYPE_BIT(MST_F32),
                                     .flags = MST_OP_STATEFUL,
                                     .infer = twice_infer,
                                     .writes = writes_first,
                                     .reference = twice_kernel,
                                     .lower = double_lower};

static void writer_without_text_needs_its_variable_on_the_cpu(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = MST_NONE, on_cpu = MST_NONE;
    char *log;
    mst_with_device (g, ACCEL0) v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(2), 0));
    mst_with_device (g, CPU0) on_cpu = mst_variable(g, "on_cpu", mst_fill(g, MST_F32, MST_SHAPE(2), 0));
    const mst_value wrong = mst_rename(mst_call(g, &double_it, 1, &v, NULL), "wrong");
    const mst_value right = mst_rename(mst_call(g, &double_it, 1, &on_cpu, NULL), "right");
    EXPECT_ERROR(compiling_place(g, "accel", true, NULL, wrong, &log), MST_INVALID,
                 "node 'wrong' (test_double_it) writes a variable on /job:localhost/replica:0/task:0/device:ACCEL:0, "
                 "which cannot run it: put the variable on a CPU");
    EXPECT_ERROR(compiling_place(g, "accel", true, NULL, mst_call(g, &double_beside, 1, &v, NULL), &log), MST_INVALID,
                 "(test_double_beside) writes a variable on /job:localhost/replica:0/task:0/device:ACCEL:0, which "
                 "cannot run it");
    log = placed(g, "accel", true, right);
    compiling_expect(log, "right", CPU0);
    free(log);
    mst_graph_destroy(g);
}

/* ---- first values ---- */

/* Assigns its first value to VARIABLE, as a session does when it begins. */
static mst_value begin(mst_value variable, const char *name) {
    return mst_rename(mst_assign(variable, mst_variable_initial(variable)), name);
}

static void first_values_are_computed_on_the_cpu(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value first[2] = {MST_NONE, MST_NONE};
    mst_with_device (g, "/device:ACCEL:1") {
        const mst_value drawn = mst_rename(mst_random_uniform(g, MST_SHAPE(2, 2)), "drawn");
        const mst_value scaled = mst_rename(mst_scale(drawn, 3), "scaled");
        const mst_value w = mst_variable(g, "w", scaled);
        const mst_value average = mst_variable(g, "average", mst_rename(mst_neg(scaled), "negated"));
        first[0] = begin(w, "first_of_w");
        first[1] = begin(average, "first_of_average");
    }
    char *log = placed(g, "accel:2", false, mst_group(first, 2));
    compiling_expect(log, "drawn", CPU0);
    compiling_expect(log, "scaled", CPU0);
    compiling_expect(log, "negated", CPU0);
    compiling_expect(log, "w", ACCEL1);
    compiling_expect(log, "average", ACCEL1);
    compiling_expect(log, "first_of_w", ACCEL1);
    compiling_expect(log, "first_of_average", ACCEL1);
    free(log);
    mst_graph_destroy(g);
}

static void what_something_else_needs_too_stays_on_the_device(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value drawn = mst_rename(mst_random_uniform(g, MST_SHAPE(2, 2)), "drawn");
    const mst_value w = mst_variable(g, "w", mst_rename(mst_scale(drawn, 3), "scaled"));
    const mst_value u = mst_variable(g, "u", mst_rename(mst_add(w, mst_ones_like(w)), "from_w"));
    const mst_value other = mst_rename(mst_neg(drawn), "other");
    const mst_value later = mst_rename(mst_assign(w, mst_rename(mst_square(w), "square")), "later");
    char *log = placed(g, "accel", false,
                       mst_group((const mst_value[]){begin(w, "first_of_w"), begin(u, "first_of_u"), other, later}, 4));
    compiling_expect(log, "drawn", ACCEL0);
    compiling_expect(log, "scaled", CPU0);
    compiling_expect(log, "from_w", CPU0);
    compiling_expect(log, "w", ACCEL0);
    compiling_expect(log, "other", ACCEL0);
    compiling_expect(log, "square", ACCEL0);
    compiling_expect(log, "later", ACCEL0);
    free(log);
    mst_graph_destroy(g);
}

static void other_lists_of_devices_place_as_before(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value first = MST_NONE;
    mst_with_device (g, "/cpu:1") {
        const mst_value w = mst_variable(g, "w", mst_rename(mst_random_uniform(g, MST_SHAPE(2)), "drawn"));
        first = mst_group((const mst_value[]){begin(w, "first"), mst_global_step(g)}, 2);
    }
    char *log = placed(g, "cpu:2/1", false, first);
    compiling_expect(log, "drawn", "/device:CPU:1");
    compiling_expect(log, "global_step", "/device:CPU:1");
    free(log);
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_can_be_compiled_go_to_the_device),
        cmocka_unit_test(feeds_variables_and_groups_need_no_program),
        cmocka_unit_test(nodes_without_text_that_ask_for_no_device_go_to_the_cpu),
        cmocka_unit_test(nodes_without_text_that_ask_for_the_device_need_soft_placement),
        cmocka_unit_test(nodes_without_text_on_a_device_that_the_library_chose_go_to_the_cpu),
        cmocka_unit_test(nodes_with_several_outputs_are_compiled),
        cmocka_unit_test(strings_and_their_look_ups_go_to_the_cpu),
        cmocka_unit_test(loop_whose_body_has_a_node_without_text_goes_to_the_cpu),
        cmocka_unit_test(numbers_of_the_step_are_on_the_cpu),
        cmocka_unit_test(number_that_is_mirrored_has_one_copy),
        cmocka_unit_test(update_is_where_the_weights_are),
        cmocka_unit_test(writer_without_text_needs_its_variable_on_the_cpu),
        cmocka_unit_test(first_values_are_computed_on_the_cpu),
        cmocka_unit_test(what_something_else_needs_too_stays_on_the_device),
        cmocka_unit_test(other_lists_of_devices_place_as_before),
    };
    return cmocka_run_group_tests(tests, compiling_register, NULL);
}
