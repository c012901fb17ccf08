/* A step happens or does not: whatever fails, wherever and whenever, all state is as it was before. The next step
 * runs as if the failed one had not been tried. */
#include <stdlib.h>

#include "muster/hlo.h"
#include "support/fault.h"
#include "support/state.h"
#include "support/test.h"

enum { MOST_DEVICES = 4, COUNT = 3000 };

/* Device d has a variable v_d. A step adds to each what was fed on its device, and to global_step 1. Every device has
 * points where the step may fail: before its update, between the update of the device before it and its own, and after
 * all updates. */
typedef struct machine {
    mst_graph *graph;
    mst_session *session;
    int devices;
    mst_value v[MOST_DEVICES];
    mst_feed feed[MOST_DEVICES];
    int number[MOST_DEVICES];
    mst_value fetch[3];
    int num_fetches;
} machine;

typedef enum position { IN_FEED, BEFORE, BETWEEN, AFTER, NUM_POSITIONS } position;
static const char *const position_names[] = {"feed", "before", "between", "after"};

static char *point_name(char name[32], position where, int device) {
    snprintf(name, 32, "%s_%d", position_names[where], device);
    return name;
}

static mst_status fill(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    char name[32];
    const int device = *(const int *)context;
    for (int64_t i = 0; i < mst_shape_count(spec->shape); i++)
        ((float *)dst)[i] = (float)(device + 1 + (first_row + i) % 7);
    return fault_here(point_name(name, IN_FEED, device));
}

static void push(mst_graph *g, int device) {
    char name[16];
    snprintf(name, sizeof name, "/cpu:%d", device);
    mst_device_push(g, name);
}

/* LAST: the place of the fault that the plan has; points after a write make it a write to a copy first. */
static machine begin(int devices, position last) {
    machine m = {.graph = engine_graph(), .devices = devices};
    mst_graph *g = m.graph;
    mst_value update[MOST_DEVICES + 2], before = MST_NONE, all;
    char name[32], spec[16];
    int n = 0;
    for (int d = 0; d < devices; d++) {
        push(g, d);
        snprintf(name, sizeof name, "v%d", d);
        m.v[d] = mst_variable(g, name, mst_fill(g, MST_F32, MST_SHAPE(COUNT), d));
        snprintf(name, sizeof name, "x%d", d);
        mst_value x = engine_input(g, name, MST_SHAPE(COUNT));
        m.number[d] = d;
        m.feed[d] = (mst_feed){.value = x, .fill = fill, .spec = {.dtype = MST_F32, .shape = MST_SHAPE(COUNT)}};
        x = fault_point(x, point_name(name, BEFORE, d));
        if (last >= BETWEEN && d > 0) mst_control_push(g, before);
        if (last >= BETWEEN) x = fault_point(x, point_name(name, BETWEEN, d));
        before = update[n++] = mst_assign_add(m.v[d], mst_add(x, mst_scale(m.v[d], 0.25)));
        if (last >= BETWEEN && d > 0) mst_control_pop(g);
        mst_device_pop(g);
    }
    update[n++] = mst_assign_add(mst_global_step(g), mst_scalar(g, MST_I64, 1));
    all = mst_group(update, n);
    for (int d = 0; d < devices && last == AFTER; d++) {
        push(g, d);
        mst_with_control (g, all) update[d] = fault_point(mst_scale(m.v[d], 1), point_name(name, AFTER, d));
        mst_device_pop(g);
    }
    m.fetch[m.num_fetches++] = all;
    m.fetch[m.num_fetches++] = last == AFTER ? mst_group(update, devices) : m.v[devices - 1];
    m.fetch[m.num_fetches++] = mst_reduce_sum(m.v[0]);
    snprintf(spec, sizeof spec, "cpu:%d/1", devices);
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = spec, .check_numerics = true}, &m.session));
    EXPECT_OK(mst_session_init_variables(m.session));
    return m;
}

static void end(machine *m) {
    engine_end(m->graph, m->session);
}

static mst_status step(machine *m) {
    mst_tensor *outputs[3] = {NULL};
    for (int d = 0; d < m->devices; d++) m->feed[d].context = &m->number[d];
    const mst_status status = mst_session_run(m->session, m->feed, m->devices, m->fetch, m->num_fetches, outputs);
    for (int i = 0; i < 3; i++) mst_tensor_release(outputs[i]);
    return status;
}

/* A failed step has left everything as it was. */
static void expect_nothing_happened(const machine *m, const mst_snapshot *before, const char *what) {
    mst_snapshot *after = state_of(mst_session_store(m->session));
    state_expect_same(what, after, before, true);
    mst_snapshot_release(after);
}

static void expect_error(const machine *m, fault_kind kind, const char *name, int device) {
    /* late: has not come back, or has not ended */
    static const char *const texts[] = {"the disk is gone", "made a NaN or Inf", "has not "};
    const mst_error_info *error = mst_error();
    if (!strstr(error->message, texts[kind])) fail_msg("%s: %s", name, error->message);
    assert_string_equal(error->task, "/job:localhost/replica:0/task:0");
    if (kind == FAULT_LATE) { /* the devices that are not late may be at work too */
        assert_string_not_equal(error->node, "");
        assert_non_null(strstr(error->message, error->device));
        return;
    }
    assert_string_equal(error->device, mst_session_device(m->session, device));
    assert_non_null(strstr(error->message, error->node));
    if (strncmp(name, "feed", 4) == 0) name = mst_value_name(m->feed[device].value);
    assert_string_equal(error->node, name);
}

/* The step fails at the point NAME, on DEVICE. With MAY_SUCCEED it may also succeed. */
static bool fails(machine *m, fault_kind kind, const char *name, int device, bool may_succeed) {
    static const mst_status codes[] = {MST_IO, MST_NUMERICS, MST_DEADLINE};
    mst_snapshot *before = state_of(mst_session_store(m->session));
    fault_arm(kind, name, 1);
    const mst_status status = step(m);
    if (status != codes[kind] && (status || !may_succeed))
        fail_msg("%s: status %d: %s", name, (int)status, mst_error()->message);
    if (status && !may_succeed) expect_error(m, kind, name, device);
    fault_disarm();
    if (fault_count() != 1) fail_msg("%s: never failed", name);
    if (status) expect_nothing_happened(m, before, name);
    mst_snapshot_release(before);
    return status != MST_OK;
}

static void fail_at_each_place(int devices, position last, fault_kind kind) {
    char name[32], what[64];
    machine good = begin(devices, last), bad = begin(devices, last);
    const bool island = strcmp(engine_here("cpu"), "cpu") != 0 && !engine_compiles();
    for (int where = IN_FEED; where <= (int)last; where++) {
        if (kind == FAULT_NAN && where == IN_FEED) continue;
        /* a kernel on an island that does not come back keeps all islands */
        if (kind == FAULT_LATE && island && where != IN_FEED) continue;
        for (int d = 0; d < devices; d++) {
            point_name(name, (position)where, d);
            /* the thread that calls for the step is in the late kernel itself: the step may end before anybody sees
             * that it is late */
            const bool may_succeed = kind == FAULT_LATE && d == 0;
            snprintf(what, sizeof what, "%s, %d devices, kind %d", name, devices, (int)kind);
            if (fails(&bad, kind, name, d, may_succeed)) EXPECT_OK(step(&bad));
            EXPECT_OK(step(&good));
            mst_snapshot *got = state_of(mst_session_store(bad.session)),
                         *wanted = state_of(mst_session_store(good.session));
            state_expect_same(what, got, wanted, false);
            mst_snapshot_release(got);
            mst_snapshot_release(wanted);
        }
    }
    end(&good);
    end(&bad);
}

static void fail_everywhere(fault_kind kind) {
    for (int devices = 2; devices <= MOST_DEVICES; devices += 2)
        for (int last = BEFORE; last < NUM_POSITIONS; last++) fail_at_each_place(devices, (position)last, kind);
}

static void kernel_that_fails_on_any_device_changes_nothing(void **state) {
    (void)state;
    fail_everywhere(FAULT_ERROR);
}

static void nan_on_any_device_changes_nothing(void **state) {
    (void)state;
    fail_everywhere(FAULT_NAN);
}

static void device_that_is_late_changes_nothing(void **state) {
    (void)state;
    if (getenv("MUSTER_TEST_ALONE")) skip(); /* the caller is in the late kernel itself */
    fail_at_each_place(3, BEFORE, FAULT_LATE);
    fail_at_each_place(3, AFTER, FAULT_LATE);
}

static void error_names_the_device_that_is_late(void **state) {
    (void)state;
    if (getenv("MUSTER_TEST_ALONE")) skip();            /* the caller is in the late kernel itself */
    if (strcmp(engine_here("cpu"), "cpu") != 0) skip(); /* islands run one at a time; lagoons are not late */
    mst_graph *g = engine_graph();
    mst_value y = MST_NONE;
    mst_with_device (g, "/cpu:0") y = mst_random_uniform(g, MST_SHAPE(5)); /* 0 and 1 have run something, and wait */
    mst_with_device (g, "/cpu:1") y = mst_neg(y);
    mst_with_device (g, "/cpu:2") y = fault_point(y, "late");
    mst_with_device (g, "/cpu:1") y = mst_neg(y);
    mst_with_device (g, "/cpu:0") y = mst_neg(y);
    mst_session *session = engine_session(g, "cpu:3/1");
    fault_arm(FAULT_LATE, "late", 1);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_DEADLINE, "'late' (fault_point)");
    assert_string_equal(mst_error()->node, "late");
    assert_string_equal(mst_error()->device, mst_session_device(session, 2));
    assert_string_equal(mst_error()->task, "/job:localhost/replica:0/task:0");
    fault_disarm();
    EXPECT_OK(mst_session_run(session, NULL, 0, &y, 1, NULL));
    assert_int_equal(fault_count(), 1);
    engine_end(g, session);
}

/* ---- behind the gate: it is decided that the step happens ---- */

static const char *const increments[] = {"increment_0", "increment_1", "increment_2"};

/* Three variables, each on a device of its own; each is incremented when the one before it has been. */
static mst_value chain_of_increments(mst_graph *g, mst_value v[3]) {
    mst_value all[4], last = MST_NONE;
    for (int d = 0; d < 3; d++) {
        char name[] = {'v', (char)('0' + d), '\0'};
        push(g, d);
        v[d] = mst_variable(g, name, mst_fill(g, MST_F32, MST_SHAPE(COUNT), 10 * d));
        if (d) mst_control_push(g, last);
        all[d] = last = fault_increment(v[d], increments[d]);
        if (d) mst_control_pop(g);
        mst_device_pop(g);
    }
    all[3] = mst_assign_add(mst_global_step(g), mst_scalar(g, MST_I64, 1));
    return mst_group(all, 4);
}

static void expect_steps(mst_session *session, const mst_value v[3], int64_t steps, const char *what) {
    mst_snapshot *snapshot = state_of(mst_session_store(session));
    for (int d = 0; d < 3; d++) {
        const mst_tensor *value = mst_snapshot_find(snapshot, "", mst_value_name(v[d]));
        for (int64_t i = 0; i < COUNT; i++)
            if (mst_tensor_get(value, i) != 10 * d + (double)steps)
                fail_msg("%s: '%s' is %g after step %d", what, mst_value_name(v[d]), mst_tensor_get(value, i),
                         (int)steps);
    }
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "global_step"), 0) == (double)steps);
    mst_snapshot_release(snapshot);
}

static void write_that_is_late_is_not_cut_off(void **state) {
    (void)state;
    if (getenv("MUSTER_TEST_ALONE")) skip(); /* the caller is in the late kernel itself */
    if (engine_compiles()) skip();           /* no kernel writes there: new values are assigned */
    mst_graph *g = engine_graph();
    mst_value v[3], all = chain_of_increments(g, v);
    mst_session *session = engine_session(g, "cpu:3/1");
    for (int d = 0; d < 3; d++) {
        mst_snapshot *before = state_of(mst_session_store(session)), *after;
        fault_arm(FAULT_LATE, increments[d], 1);
        EXPECT_OK(mst_session_run(session, NULL, 0, &all, 1, NULL));
        fault_disarm();
        assert_int_equal(fault_count(), 1);
        expect_steps(session, v, d + 1, increments[d]);
        after = state_of(mst_session_store(session));
        for (int64_t i = 0; i < mst_snapshot_count(after); i++)
            if (mst_snapshot_info(after, i).kind != MST_STATE_RANDOM)
                assert_true(mst_snapshot_info(after, i).version > mst_snapshot_info(before, i).version);
        mst_snapshot_release(before);
        mst_snapshot_release(after);
    }
    engine_end(g, session);
}

static void write_that_outlives_its_deadline_is_reported_and_completes(void **state) {
    (void)state;
    if (getenv("MUSTER_TEST_ALONE")) skip(); /* the caller is in the late kernel itself */
    if (engine_compiles()) skip();           /* no kernel writes there: new values are assigned */
    mst_graph *g = engine_graph();
    mst_value v[3], all = chain_of_increments(g, v);
    mst_session *session = engine_session(g, "cpu:3/1");
    for (int d = 1; d < 3; d++) {
        fault_arm(FAULT_LATE, increments[d], 3);
        EXPECT_ERROR(mst_session_run(session, NULL, 0, &all, 1, NULL), MST_DEADLINE, increments[d]);
        assert_string_equal(mst_error()->node, increments[d]);
        assert_string_equal(mst_error()->device, mst_session_device(session, d));
        fault_disarm();
        assert_int_equal(fault_count(), 1);
        expect_steps(session, v, 2 * d - 1, increments[d]);
        engine_run(session, all);
        expect_steps(session, v, 2 * d, increments[d]);
    }
    engine_end(g, session);
}

/* ---- writers that may fail ---- */

/* Adds 1 to the first half of a variable, and to the second unless source 1 says that it overflows; not marked as
 * infallible. */
static mst_status infer_same(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static bool writes_first(const void *options, int num_src, int i) {
    (void)options, (void)num_src;
    return i == 0;
}

static mst_status pour(const mst_kernel_args *a) {
    float *x = a->src[0].data, *out = a->dst[0].data;
    const bool overflows = *(const int32_t *)a->src[1].data != 0;
    for (int64_t i = 0; i < a->src[0].count; i++) {
        if (overflows && i == a->src[0].count / 2) return mst_kernel_fail(a, MST_INVALID, "it overflows");
        x[i] += 1;
    }
    if (out != x) memcpy(out, x, (size_t)a->dst[0].count * sizeof *out);
    return MST_OK;
}

static void pour_lower(mst_lower *l) {
    mst_hlo_fault(l, mst_hlo_convert(l, l->src[1], MST_BOOL), MST_INVALID, "it overflows");
    l->dst[0] = mst_hlo_binary(l, "add", l->src[0], mst_hlo_number(l, MST_F32, 1));
}

/* As a view of the variable, and with the output in memory of its own. */
static const mst_op pour_ops[] = {
    {.name = "pour_in_place",
     .num_src = 2,
     .num_dst = 1,
     .dtypes = MST_DTYPE_BIT(MST_F32) | MST_DTYPE_BIT(MST_I32),
     .flags = MST_OP_STATEFUL | MST_OP_VIEW,
     .infer = infer_same,
     .writes = writes_first,
     .reference = pour,
     .lower = pour_lower},
    {.name = "pour",
     .num_src = 2,
     .num_dst = 1,
     .dtypes = MST_DTYPE_BIT(MST_F32) | MST_DTYPE_BIT(MST_I32),
     .flags = MST_OP_STATEFUL,
     .infer = infer_same,
     .writes = writes_first,
     .reference = pour},
};

static void writer_that_fails_changes_nothing(void **state) {
    (void)state;
    const int num_ops = engine_compiles() ? 1 : 2; /* these take writers only whose output is the variable */
    for (int k = 0; k < num_ops; k++) {
        mst_graph *g = engine_graph();
        mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(8), 1));
        const mst_value overflows = mst_placeholder(g, MST_I32, MST_SCALAR, "overflows"), src[] = {v, overflows};
        mst_value poured = mst_call(g, &pour_ops[k], 2, src, NULL);
        mst_value all =
            mst_group((const mst_value[]){poured, mst_assign_add(mst_global_step(g), mst_scalar(g, MST_I64, 1))}, 2);
        mst_session *session = engine_session(g, "cpu:1/1");
        mst_snapshot *before = state_of(mst_session_store(session)), *after;
        const mst_feed feed = {.value = overflows, .tensor = engine_tensor(MST_I32, MST_SCALAR, (double[]){1})};
        EXPECT_ERROR(mst_session_run(session, &feed, 1, &all, 1, NULL), MST_INVALID, "it overflows");
        assert_string_equal(mst_error()->node, mst_value_name(poured));
        after = state_of(mst_session_store(session));
        state_expect_same(pour_ops[k].name, after, before, true);
        mst_snapshot_release(before);
        mst_snapshot_release(after);
        mst_tensor_set(feed.tensor, 0, 0);
        EXPECT_OK(mst_session_run(session, &feed, 1, &all, 1, NULL));
        after = state_of(mst_session_store(session));
        for (int64_t i = 0; i < 8; i++) assert_true(mst_tensor_get(mst_snapshot_find(after, "", "v"), i) == 2);
        assert_true(mst_tensor_get(mst_snapshot_find(after, "", "global_step"), 0) == 1);
        mst_snapshot_release(after);
        mst_tensor_release(feed.tensor);
        engine_end(g, session);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_that_fails_on_any_device_changes_nothing),
        cmocka_unit_test(nan_on_any_device_changes_nothing),
        cmocka_unit_test(device_that_is_late_changes_nothing),
        cmocka_unit_test(error_names_the_device_that_is_late),
        cmocka_unit_test(write_that_is_late_is_not_cut_off),
        cmocka_unit_test(write_that_outlives_its_deadline_is_reported_and_completes),
        cmocka_unit_test(writer_that_fails_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
