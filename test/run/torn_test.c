/* A kernel that is wrongly marked as infallible fails behind the gate. The step is not committed, and entries that
 * are half written are torn. The error names them, and every use of one fails until it is set or restored. */
#include <dlfcn.h>
#include <dnnl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/reserve.h"
#include "muster/hlo.h"
#include "run/session.h"
#include "support/fault.h"
#include "support/folder.h"
#include "support/sanitized.h"
#include "support/state.h"
#include "support/test.h"
#include "support/training.h"

enum { COUNT = 3000 };

/* ---- a writer that is wrongly marked ---- */

/* Adds 1 to all elements of a variable. The node of the name `armed` fails after half of them, on the calling thread
 * (which runs device 0) or on another. */
static const char *armed;
static bool on_caller;
static pthread_t caller;

static void arm(const char *name, bool caller_fails) {
    armed = name;
    on_caller = caller_fails;
    caller = pthread_self();
}

static mst_status infer_same(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static bool writes(const void *options, int num_src, int i) {
    (void)options, (void)num_src, (void)i;
    return true;
}

static mst_status increment(const mst_kernel_args *a) {
    const bool fails =
        armed && strcmp(armed, a->name) == 0 && on_caller == (pthread_equal(caller, pthread_self()) != 0);
    float *x = a->src[0].data;
    for (int64_t i = 0; i < a->src[0].count; i++) {
        if (fails && i == a->src[0].count / 2) return mst_kernel_fail(a, MST_IO, "the disk is gone");
        x[i] += 1;
    }
    return MST_OK;
}

static void increment_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_binary(l, "add", l->src[0], mst_hlo_number(l, MST_F32, 1));
}

static const mst_op increment_op = {.name = "wrongly_marked",
                                    .num_src = 1,
                                    .num_dst = 1,
                                    .dtypes = MST_DTYPE_BIT(MST_F32),
                                    .flags = MST_OP_STATEFUL | MST_OP_VIEW | MST_OP_INFALLIBLE,
                                    .infer = infer_same,
                                    .writes = writes,
                                    .reference = increment,
                                    .lower = increment_lower};

static mst_value increment_node(mst_value variable, const char *name) {
    return mst_call_named(NULL, &increment_op, name, 1, &variable, NULL);
}

/* Behind the gate devices that compile run no kernel that could fail: new values are assigned. */
static void skip_without_kernels(void) {
    if (engine_compiles()) skip();
}

/* ---- what is expected of entries ---- */

static mst_state_info info_of(mst_store *store, const char *name) {
    mst_state_info *list, found = {.name = NULL};
    int64_t count;
    EXPECT_OK(mst_store_list(store, &list, &count));
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) found = list[i];
    free(list);
    assert_non_null(found.name);
    return found;
}

static void expect_elements(mst_session *session, mst_value variable, double wanted) {
    mst_tensor *value;
    EXPECT_OK(mst_session_get_variable(session, variable, &value));
    for (int64_t i = 0; i < mst_tensor_count(value); i++)
        if (mst_tensor_get(value, i) != wanted)
            fail_msg("'%s' is %g, not %g", mst_value_name(variable), mst_tensor_get(value, i), wanted);
    mst_tensor_release(value);
}

/* The error names VARIABLE, and says what to do. */
static void expect_torn(mst_status status, mst_value variable, const char *what) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "'%s' is torn", mst_value_name(variable));
    if (status != MST_CORRUPT) fail_msg("%s: status %d", what, (int)status);
    if (!strstr(mst_error()->message, quoted) || !strstr(mst_error()->message, "set it or restore it"))
        fail_msg("%s: %s", what, mst_error()->message);
}

/* Every use of VARIABLE fails; no other entry of the store is torn. */
static void expect_unusable(mst_session *session, mst_value variable) {
    mst_store *store = mst_session_store(session);
    mst_tensor *value = NULL;
    mst_snapshot *snapshot = NULL;
    mst_checkpoint_manager *manager;
    const mst_value sum = mst_reduce_sum(variable);
    expect_torn(mst_session_run(session, NULL, 0, &sum, 1, NULL), variable, "run");
    assert_string_equal(mst_error()->node, mst_value_name(variable));
    expect_torn(mst_session_get_variable(session, variable, &value), variable, "get_variable");
    expect_torn(mst_store_get(store, NULL, mst_value_name(variable), &value), variable, "store_get");
    expect_torn(mst_store_snapshot(store, &snapshot), variable, "snapshot");
    assert_null(value);
    assert_null(snapshot);
    EXPECT_OK(mst_checkpoint_manager_open(&(mst_checkpoint_options){.directory = folder_path("")}, &manager));
    expect_torn(mst_checkpoint_manager_save(manager, store), variable, "checkpoint");
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    EXPECT_OK(mst_session_init_variables(session)); /* gives first values, and this one had one */
    assert_true(info_of(store, mst_value_name(variable)).torn);
}

/* Three variables of COUNT elements, each incremented by a node "increment_I" when the one before it has been; variable
 * I is on device I of DEVICES. */
typedef struct chain {
    mst_graph *graph;
    mst_session *session;
    mst_store *store;
    mst_value v[3], all;
    uint64_t before[3]; /* versions before the last step */
} chain;

static const char *const increments[] = {"increment_0", "increment_1", "increment_2"};

static chain begin(int devices) {
    chain c = {.graph = engine_graph()};
    mst_value last = MST_NONE;
    char spec[16];
    for (int i = 0; i < 3; i++) {
        char name[] = {'v', (char)('0' + i), '\0'}, device[16];
        snprintf(device, sizeof device, "/cpu:%d", i % devices);
        mst_device_push(c.graph, device);
        c.v[i] = mst_variable(c.graph, name, mst_fill(c.graph, MST_F32, MST_SHAPE(COUNT), 10 * i));
        if (i) mst_control_push(c.graph, last);
        last = increment_node(c.v[i], increments[i]);
        if (i) mst_control_pop(c.graph);
        mst_device_pop(c.graph);
    }
    c.all = mst_group(&last, 1);
    snprintf(spec, sizeof spec, "cpu:%d/1", devices);
    c.session = engine_session(c.graph, spec);
    c.store = mst_session_store(c.session);
    return c;
}

static mst_status step(chain *c) {
    for (int i = 0; i < 3; i++) c->before[i] = info_of(c->store, mst_value_name(c->v[i])).version;
    return mst_session_run(c->session, NULL, 0, &c->all, 1, NULL);
}

/* A step in which the increment of variable I fails: those before it are made, it and those after it are torn. */
static void tear(chain *c, int i) {
    arm(increments[i], true);
    on_caller = mst_session_num_devices(c->session) == 1 || i == 0;
    EXPECT_ERROR(step(c), MST_IO, "the disk is gone");
    assert_string_equal(mst_error()->node, increments[i]);
    arm(NULL, false);
    for (int k = 0; k < 3; k++) {
        char quoted[8];
        snprintf(quoted, sizeof quoted, "'v%d'", k);
        if ((k < i) == (strstr(mst_error()->message, quoted) != NULL))
            fail_msg("%s, where %s failed", mst_error()->message, increments[i]);
        const mst_state_info info = info_of(c->store, mst_value_name(c->v[k]));
        assert_int_equal(info.torn, k >= i);
        if (k < i)
            assert_true(info.version > c->before[k]);
        else
            assert_int_equal(info.version, c->before[k]);
    }
}

static mst_tensor *filled(double value) {
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(COUNT), NULL);
    for (int64_t k = 0; k < COUNT; k++) mst_tensor_set(tensor, k, value);
    return tensor;
}

static void write_that_fails_tears_what_it_had_to_write_and_all_after_it(void **state) {
    (void)state;
    skip_without_kernels();
    for (int devices = 1; devices <= 3; devices += 2)
        for (int i = 0; i < 3; i++) {
            chain c = begin(devices);
            EXPECT_OK(step(&c));
            tear(&c, i);
            for (int k = 0; k < i; k++) expect_elements(c.session, c.v[k], 10 * k + 2);
            engine_end(c.graph, c.session);
        }
}

static void torn_entry_is_refused_until_it_is_set(void **state) {
    (void)state;
    skip_without_kernels();
    for (int devices = 1; devices <= 3; devices += 2) {
        chain c = begin(devices);
        tear(&c, 2);
        for (int times = 0; times < 2; times++) { /* a step that is refused changes nothing */
            expect_unusable(c.session, c.v[2]);
            expect_torn(step(&c), c.v[2], "step");
            expect_elements(c.session, c.v[0], 1);
        }
        mst_tensor *value = filled(7);
        EXPECT_OK(mst_session_set_variable(c.session, c.v[2], value));
        mst_tensor_release(value);
        assert_false(info_of(c.store, "v2").torn);
        assert_true(info_of(c.store, "v2").version > c.before[2]);
        expect_elements(c.session, c.v[2], 7);
        EXPECT_OK(step(&c));
        expect_elements(c.session, c.v[2], 8);
        engine_end(c.graph, c.session);
    }
}

static void torn_entry_is_whole_again_when_a_snapshot_is_restored(void **state) {
    (void)state;
    skip_without_kernels();
    chain c = begin(3);
    EXPECT_OK(step(&c));
    mst_snapshot *before = state_of(c.store), *after;
    tear(&c, 1);
    expect_torn(step(&c), c.v[1], "step");
    EXPECT_OK(mst_store_restore(c.store, before));
    after = state_of(c.store);
    state_expect_same("restored", after, before, false);
    EXPECT_OK(step(&c));
    for (int k = 0; k < 3; k++) expect_elements(c.session, c.v[k], 10 * k + 2);
    mst_snapshot_release(before);
    mst_snapshot_release(after);
    engine_end(c.graph, c.session);
}

static void torn_entry_is_whole_again_when_a_run_assigns_all_of_it(void **state) {
    (void)state;
    skip_without_kernels();
    chain c = begin(3);
    const mst_value assign = mst_assign(c.v[2], mst_fill(c.graph, MST_F32, MST_SHAPE(COUNT), 4));
    tear(&c, 2);
    engine_run(c.session, assign);
    expect_elements(c.session, c.v[2], 4);
    EXPECT_OK(step(&c));
    expect_elements(c.session, c.v[2], 5);
    engine_end(c.graph, c.session);
}

static void other_sessions_of_the_store_see_that_an_entry_is_torn(void **state) {
    (void)state;
    skip_without_kernels();
    chain c = begin(1);
    mst_graph *g = engine_graph();
    mst_session *other;
    const mst_value same = mst_variable(g, "v1", mst_fill(g, MST_F32, MST_SHAPE(COUNT), 0)), sum = mst_reduce_sum(same);
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .store = c.store}, &other));
    assert_true(engine_number(other, sum) == 10.0 * COUNT); /* its plan knows the entry from before */
    tear(&c, 1);
    expect_torn(mst_session_run(other, NULL, 0, &sum, 1, NULL), same, "other session");
    mst_tensor *value = filled(2);
    EXPECT_OK(mst_session_set_variable(other, same, value));
    mst_tensor_release(value);
    assert_true(engine_number(other, sum) == 2.0 * COUNT);
    engine_end(g, other);
    engine_end(c.graph, c.session);
}

/* The copy of one device is written, that of the other is not. */
static void write_that_fails_on_one_of_two_mirrors_tears_the_entry(void **state) {
    (void)state;
    skip_without_kernels();
    for (int device = 0; device < 2; device++) {
        mst_graph *g = engine_graph();
        const mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(COUNT), 1));
        mst_variable_mirror(v, engine_here("/cpu:0,/cpu:1"));
        const mst_value grow = increment_node(v, "grow");
        mst_session *session = engine_session(g, "cpu:2/1");
        engine_run(session, grow);
        arm("grow", device == 0);
        EXPECT_ERROR(mst_session_run(session, NULL, 0, &grow, 1, NULL), MST_IO, "the disk is gone");
        assert_non_null(strstr(mst_error()->message, "'v'"));
        assert_string_equal(mst_error()->device, mst_session_device(session, device));
        arm(NULL, false);
        expect_unusable(session, v);
        expect_torn(mst_session_run(session, NULL, 0, &grow, 1, NULL), v, "step");
        mst_tensor *value = filled(5);
        EXPECT_OK(mst_session_set_variable(session, v, value));
        mst_tensor_release(value);
        engine_run(session, grow);
        for (int d = 0; d < 2; d++) /* each device reads its own copy */
            mst_with_device (g, d ? "/cpu:1" : "/cpu:0")
                assert_true(engine_number(session, mst_reduce_sum(v)) == 6.0 * COUNT);
        engine_end(g, session);
    }
}

/* ---- a device that waits in vain ---- */

/* Device 0, whose part the caller runs, waits behind the gate for a write of device 1 that does not come back in time:
 * it stops, and the caller is told. The write ends whole when it ends. */
static void device_that_waits_for_a_failed_one_behind_the_gate_tears_its_writes(void **state) {
    (void)state;
    skip_without_kernels();
    mst_graph *g = engine_graph();
    mst_value v[2] = {MST_NONE, MST_NONE}, late = MST_NONE, after = MST_NONE;
    mst_with_device (g, "/cpu:0") v[0] = mst_variable(g, "v0", mst_fill(g, MST_F32, MST_SHAPE(COUNT), 0));
    mst_with_device (g, "/cpu:1") v[1] = mst_variable(g, "v1", mst_fill(g, MST_F32, MST_SHAPE(COUNT), 10));
    mst_with_device (g, "/cpu:1") late = fault_increment(v[1], "late");
    mst_with_device (g, "/cpu:0")
        mst_with_control (g, late) after = increment_node(v[0], "after");
    mst_session *session = engine_session(g, "cpu:2/1");
    fault_arm(FAULT_LATE, "late", 3);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &after, 1, NULL), MST_DEADLINE, "late");
    fault_disarm();
    assert_int_equal(fault_count(), 1);
    expect_torn(mst_session_run(session, NULL, 0, &after, 1, NULL), v[0], "step");
    expect_elements(session, v[1], 11);
    mst_tensor *value = filled(3);
    EXPECT_OK(mst_session_set_variable(session, v[0], value));
    mst_tensor_release(value);
    engine_run(session, after);
    expect_elements(session, v[0], 4);
    expect_elements(session, v[1], 12);
    engine_end(g, session);
}

/* ---- what fails after the last write ---- */

static bool copies_fail; /* of COUNT elements to the host */
static const mst_domain_type *real_type;

static mst_status copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes) {
    if (copies_fail && to->type->host && bytes == COUNT * sizeof(float)) return MST_FAIL(MST_IO, "the bus is gone");
    return real_type->copy(to, dst, from, src, bytes);
}

static mst_status copy_array(mst_domain *to, const mst_array *dst, mst_domain *from, const mst_array *src,
                             int64_t deadline) {
    if (copies_fail && to->type->host && src->count == COUNT) return MST_FAIL(MST_IO, "the bus is gone");
    return real_type->copy_array(to, dst, from, src, deadline);
}

static void fetch_that_fails_behind_the_gate_tears_nothing(void **state) {
    (void)state;
    if (strcmp(engine_here("cpu"), "cpu") == 0) skip(); /* a fetch of the host's memory cannot fail */
    chain c = begin(1);
    mst_domain *domain = c.session->devices.device[0].domain;
    mst_domain_type type = *(real_type = domain->type);
    if (type.copy)
        type.copy = copy;
    else
        type.copy_array = copy_array;
    mst_value after = MST_NONE;
    mst_with_control (c.graph, c.all) after = mst_scale(c.v[2], 2);
    mst_tensor *output = NULL;
    domain->type = &type;
    copies_fail = true;
    /* on devices that compile everything that is computed comes before the gate */
    const bool made = !engine_compiles();
    EXPECT_ERROR(mst_session_run(c.session, NULL, 0, &after, 1, &output), MST_IO,
                 made ? "the step was made, but" : "the bus is gone");
    copies_fail = false;
    domain->type = real_type;
    for (int k = 0; k < 3; k++) expect_elements(c.session, c.v[k], 10 * k + made);
    mst_tensor_release(output);
    engine_end(c.graph, c.session);
}

/* ---- a group: the products of an update ---- */

/* Gradients of weights that the calling thread of a test ([1]) and others ([0]) have had made by oneDNN. Of one of
 * them, those from number `failing` on get no memory or, with `refusing`, none as long as there is a reserve. */
static atomic_llong products[2];
static long long failing;
static bool refusing;

dnnl_status_t dnnl_sgemm(char transa, char transb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha,
                         const float *a, dnnl_dim_t lda, const float *b, dnnl_dim_t ldb, float beta, float *c,
                         dnnl_dim_t ldc) {
    static dnnl_status_t (*real)(char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t, float, const float *, dnnl_dim_t,
                                 const float *, dnnl_dim_t, float, float *, dnnl_dim_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "dnnl_sgemm");
    const int on = pthread_equal(caller, pthread_self()) != 0;
    const long long number = atomic_fetch_add(&products[on], 1) + 1;
    if (failing && number >= failing && on == on_caller && (!refusing || mst_reserve_is_there()))
        return dnnl_out_of_memory;
    return real(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

enum { ROWS = 96, BATCH = 16, FEATURES = 400, CLASSES = 5, HIDDEN = 160 /* two units or more in a kernel */ };

/* Lets the last product of step 4 fail. That product belongs to the update, and all steps have equally many. */
typedef struct failure {
    long long before;       /* calls before the step */
    mst_snapshot *snapshot; /* after step 3 */
    int spent;              /* steps that left no reserve */
} failure;

static mst_status plan_failure(void *context, mst_train_state *state) {
    failure *f = context;
    const long long now = atomic_load(&products[on_caller]);
    if (state->step == 3) {
        f->snapshot = state_of(mst_model_store(state->model));
        failing = now + (now - f->before);
    }
    f->before = now;
    f->spent += !mst_reserve_is_there();
    return MST_OK;
}

static mst_model *compiled_model(const char *devices) {
    mst_model *model = training_model(HIDDEN, CLASSES, 1e-3f);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .seed = 3,
                          .strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = 2},
                          .session = {.devices = devices}));
    return model;
}

static mst_status fit(mst_model *model, mst_dataset *data, const mst_callback *callback) {
    return mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 1, .resume = true, .callbacks = callback,
                   .num_callbacks = callback != NULL);
}

static void expect_refused(mst_status status, const char *what) {
    if (status != MST_CORRUPT || !strstr(mst_error()->message, "is torn"))
        fail_msg("%s: status %d: %s", what, (int)status, mst_error()->message);
}

static void fail_in_update(const char *devices, bool caller_fails) {
    char hex[65], wanted[65];
    mst_result result;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *good = compiled_model(devices), *bad = compiled_model(devices);
    EXPECT_OK(fit(good, data, NULL));
    EXPECT_OK(mst_model_sha256(good, wanted));
    failure f = {0};
    arm(NULL, caller_fails);
    EXPECT_ERROR(fit(bad, data, &(mst_callback){.context = &f, .step_end = plan_failure}), MST_OUT_OF_MEMORY,
                 "'dense/kernel'");
    failing = 0;
    assert_non_null(strstr(mst_error()->message, "torn"));
    assert_string_equal(mst_error()->device, caller_fails ? "/job:localhost/replica:0/task:0/device:CPU:0"
                                                          : "/job:localhost/replica:0/task:0/device:CPU:1");
    assert_true(info_of(mst_model_store(bad), "dense/kernel").torn);
    expect_refused(fit(bad, data, NULL), "fit");
    expect_refused(mst_model_sha256(bad, hex), "sha256");
    expect_refused(mst_evaluate(bad, data, BATCH, &result, NULL), "evaluate");
    EXPECT_OK(mst_store_restore(mst_model_store(bad), f.snapshot));
    EXPECT_OK(fit(bad, data, NULL));
    EXPECT_OK(mst_model_sha256(bad, hex));
    assert_string_equal(hex, wanted);
    mst_snapshot_release(f.snapshot);
    mst_model_destroy(bad);
    mst_model_destroy(good);
    mst_dataset_release(data);
}

/* The C library gives oneDNN nothing in step 4, until the reserve is given back. */
static void product_of_an_update_that_gets_no_memory_takes_the_reserve(void **state) {
    (void)state;
    if (strcmp(engine_here("cpu"), "cpu") != 0) skip();
    for (int devices = 1; devices <= 2; devices++) {
        char hex[65], wanted[65];
        const char *spec = devices == 1 ? "cpu:1/1" : "cpu:2/1";
        mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
        mst_model *good = compiled_model(spec), *bad = compiled_model(spec);
        EXPECT_OK(fit(good, data, NULL));
        EXPECT_OK(mst_model_sha256(good, wanted));
        failure f = {0};
        arm(NULL, true);
        refusing = true;
        EXPECT_OK(fit(bad, data, &(mst_callback){.context = &f, .step_end = plan_failure}));
        assert_int_equal(f.spent, ROWS / BATCH - 3); /* in each step from then on, and there again before it writes */
        refusing = false;
        failing = 0;
        EXPECT_OK(mst_model_sha256(bad, hex));
        assert_string_equal(hex, wanted);
        mst_snapshot_release(f.snapshot);
        mst_model_destroy(bad);
        mst_model_destroy(good);
        mst_dataset_release(data);
    }
}

static rlim_t address_space(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* After step 4, which has spent the reserve, the system has next to no memory left. */
static mst_status end_memory(void *context, mst_train_state *state) {
    MST_TRY(plan_failure(context, state));
    if (state->step != 4) return MST_OK;
    failing = 0;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = address_space() + (2 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    return MST_OK;
}

static void step_without_a_reserve_does_not_begin_to_write(void **state) {
    (void)state;
    if (SANITIZED || strcmp(engine_here("cpu"), "cpu") != 0) skip();
    char hex[65], wanted[65];
    struct rlimit before;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *good = compiled_model("cpu:1/1"), *bad = compiled_model("cpu:1/1");
    EXPECT_OK(fit(good, data, NULL));
    EXPECT_OK(mst_model_sha256(good, wanted));
    failure f = {0};
    arm(NULL, true);
    refusing = true;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const mst_status status = fit(bad, data, &(mst_callback){.context = &f, .step_end = end_memory});
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    refusing = false;
    EXPECT_ERROR(status, MST_OUT_OF_MEMORY, "in reserve");
    assert_null(strstr(mst_error()->message, "torn"));
    EXPECT_OK(fit(bad, data, NULL));
    EXPECT_OK(mst_model_sha256(bad, hex));
    assert_string_equal(hex, wanted);
    mst_snapshot_release(f.snapshot);
    mst_model_destroy(bad);
    mst_model_destroy(good);
    mst_dataset_release(data);
}

static void product_that_fails_in_an_update_tears_the_weights(void **state) {
    (void)state;
    if (strcmp(engine_here("cpu"), "cpu") != 0)
        skip(); /* domains exchange whole gradients: no products in the update */
    fail_in_update("cpu:1/1", true);
    fail_in_update("cpu:2/1", true);
    fail_in_update("cpu:2/1", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_that_fails_tears_what_it_had_to_write_and_all_after_it),
        TEST_IN_FOLDER(torn_entry_is_refused_until_it_is_set),
        cmocka_unit_test(torn_entry_is_whole_again_when_a_snapshot_is_restored),
        cmocka_unit_test(torn_entry_is_whole_again_when_a_run_assigns_all_of_it),
        cmocka_unit_test(other_sessions_of_the_store_see_that_an_entry_is_torn),
        TEST_IN_FOLDER(write_that_fails_on_one_of_two_mirrors_tears_the_entry),
        cmocka_unit_test(device_that_waits_for_a_failed_one_behind_the_gate_tears_its_writes),
        cmocka_unit_test(fetch_that_fails_behind_the_gate_tears_nothing),
        cmocka_unit_test(product_of_an_update_that_gets_no_memory_takes_the_reserve),
        cmocka_unit_test(step_without_a_reserve_does_not_begin_to_write),
        cmocka_unit_test(product_that_fails_in_an_update_tears_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
