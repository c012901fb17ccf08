/* Updates in place. If the memory limit has no room for the variables before and after a step, the programs behind
 * the gate write them in donated memory. The bits are those of plans that do not. If such a program fails, only what
 * its device had still to write is torn.
 *
 * MUSTER_LAGOON_FAIL chooses which run of a program of a process fails. So each such training is a process of its own:
 * this program, with arguments. It sets the variable before its first step, and prints how many steps failed before and
 * behind the gate, and a hash of the state at the end. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/byte_hash.h"
#include "plan/compiled.h"
#include "run/session.h"
#include "support/members.h"
#include "support/networks.h"
#include "support/state.h"
#include "support/test.h"

enum { SHARDS = 2, STEPS = 3, ROWS = 4, FEATURES = 40, WIDTH = 30, CLASSES = 3, WORDS = 20, TASKS = 2 };
static const int64_t MOST = (int64_t)1 << 40; /* a limit that has room for anything, so that programs are measured */

/* ---- a step: dense layers, moving statistics, a table of words ---- */

typedef struct training {
    mst_graph *graph;
    mst_session *session;
    mst_step_values values;
    mst_status status; /* of the last step */
    char message[1024], node[256], device[256];
} training;

static void build_replica(void *context, mst_graph *g, int shard, mst_replica *out) {
    (void)context, (void)shard;
    const mst_initializer uniform = mst_random_uniform_initializer(.low = -0.5, .high = 0.5);
    const mst_value rows = mst_random_uniform(g, MST_SHAPE(ROWS, FEATURES), .low = -1);
    const mst_value words = mst_random_uniform_int(g, MST_SHAPE(ROWS), .high = WORDS, .dtype = MST_I64);
    const mst_value labels = mst_random_uniform_int(g, MST_SHAPE(ROWS), .high = CLASSES, .dtype = MST_I64);
    const mst_value table = mst_get_variable(g, "table", MST_SHAPE(WORDS, WIDTH), MST_F32, uniform);
    const mst_value w = mst_get_variable(g, "w", MST_SHAPE(FEATURES, WIDTH), MST_F32, uniform);
    const mst_value v = mst_get_variable(g, "v", MST_SHAPE(WIDTH, CLASSES), MST_F32, uniform);
    const mst_value mean =
        mst_get_variable(g, "mean", MST_SHAPE(FEATURES), MST_F32, mst_zeros_initializer(), .not_trainable = true);
    mst_replica_update(out, mean, mst_reduce_mean(rows, .axes = MST_AXES(0)), MST_JOIN_MEAN);
    const mst_value hidden = mst_add(mst_matmul(mst_sub(rows, mean), w), mst_gather(table, words, 0));
    out->loss = mst_sparse_softmax_cross_entropy(mst_matmul(mst_tanh(hidden), v), labels);
}

static mst_optimizer chosen(void) {
    return mst_adam(.learning_rate = 0.05, .clip_global_norm = 0.5, .ema_decay = 0.9);
}

/* IN_PLACE: updates are made in place, whatever the limit of memory is. */
static void begin_with(training *t, const mst_session_options *options, bool in_place, mst_shards window,
                       mst_task_group *group) {
    const mst_optimizer optimizer = chosen();
    mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED,
                             .num_shards = SHARDS,
                             .first_shard = window.first,
                             .num_shards_here = window.count};
    *t = (training){.graph = engine_graph()};
    EXPECT_OK(mst_session_create(t->graph, options, &t->session));
    if (in_place) atomic_store(&t->session->updates_in_place, true);
    mst_session_join(t->session, group);
    engine_build_step(t->graph, t->session, &strategy, &optimizer, build_replica, t, &t->values);
}

static void begin(training *t, const char *devices, int64_t limit, bool in_place, mst_shards window,
                  mst_task_group *group) {
    begin_with(t, &(mst_session_options){.devices = devices, .memory_limit = limit}, in_place, window, group);
}

static void end(training *t) {
    mst_session_destroy(t->session);
    mst_graph_destroy(t->graph);
}

/* One step; its error is kept. */
static void step(training *t) {
    const mst_value fetch[] = {t->values.train, t->values.loss};
    mst_tensor *out[2] = {NULL};
    t->status = mst_session_run(t->session, NULL, 0, fetch, 2, out);
    mst_tensor_release(out[1]);
    if (!t->status) return;
    snprintf(t->message, sizeof t->message, "%s", mst_error()->message);
    snprintf(t->node, sizeof t->node, "%s", mst_error()->node);
    snprintf(t->device, sizeof t->device, "%s", mst_error()->device);
}

/* A hash of all that the steps have made. */
static uint64_t hash_of(const training *t) {
    mst_snapshot *snapshot = state_of(mst_session_store(t->session));
    uint64_t hash = 1;
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) {
        const mst_tensor *value = mst_snapshot_value(snapshot, i);
        if (strcmp(mst_snapshot_info(snapshot, i).name, MST_STATE_RUNS) == 0) continue;
        hash = 31 * hash + mst_byte_hash(mst_tensor_data(value), mst_tensor_bytes(value));
    }
    mst_snapshot_release(snapshot);
    return hash;
}

/* ---- limits of memory ---- */

static const mst_shards all_shards = {0, SHARDS};

/* What the last plan of SESSION needs on a device that compiles: the most of all of them. */
static int64_t needed_bytes(const mst_session *session) {
    const mst_plan *plan = session->plans[0]->plan;
    int64_t most = 0;
    for (int d = 0; d < session->devices.count; d++) {
        const mst_program *program = &plan->program[d];
        const int64_t bytes = session->state_bytes[d] + session->constant_bytes[d] + session->inside_bytes[d] +
                              program->arena_bytes + program->workspace_bytes + program->exchange_bytes;
        if (session->devices.device[d].type->compiles && bytes > most) most = bytes;
    }
    return most;
}

/* Sets *HASH to that of the state after STEPS steps. Returns what their plan needs. */
static int64_t measure(const char *devices, int64_t limit, bool in_place, uint64_t *hash) {
    training t;
    begin(&t, devices, limit, in_place, all_shards, NULL);
    for (int i = 0; i < STEPS; i++) {
        step(&t);
        if (t.status) fail_msg("%s, limit %lld: '%s'", devices, (long long)limit, t.message);
    }
    *hash = hash_of(&t);
    const int64_t bytes = needed_bytes(t.session);
    end(&t);
    return bytes;
}

/* A training that is limited to LIMIT bytes from after its first values on; those need room of their own. */
static void expect_with_limit(const char *devices, int64_t limit, bool in_place, uint64_t wanted) {
    training t;
    begin(&t, devices, 1 << 30, false, all_shards, NULL);
    for (int d = 0; d < t.session->devices.count; d++) {
        if (!t.session->devices.device[d].type->compiles) continue;
        t.session->devices.device[d].memory_limit = limit;
        /* as if the first values had been set from outside */
        mst_arena_memory *arena = &t.session->slots[0].arena[d];
        mst_domain *domain = t.session->devices.device[d].domain;
        if (arena->data) domain->type->free(domain, arena->data, (size_t)arena->bytes);
        arena->data = NULL;
        arena->bytes = 0;
    }
    t.session->slots[0].generation++;
    for (int i = 0; i < STEPS; i++) {
        step(&t);
        if (t.status) fail_msg("%s, limit %lld: '%s'", devices, (long long)limit, t.message);
    }
    assert_int_equal(mst_session_updates_in_place(t.session), in_place);
    assert_int_equal(t.session->plans[0]->plan->donates, in_place);
    if (hash_of(&t) != wanted) fail_msg("%s, limit %lld: other bits", devices, (long long)limit);
    end(&t);
}

static void limit_chooses_where_updates_are_made(void **state) {
    (void)state;
    static const char *const devices[] = {"lagoon:1", "lagoon:2"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        uint64_t wanted, hash;
        const int64_t twice = measure(devices[d], MOST, false, &wanted), once = measure(devices[d], MOST, true, &hash);
        assert_true(hash == wanted);
        assert_true(once < twice);
        expect_with_limit(devices[d], twice, false, wanted);
        expect_with_limit(devices[d], twice - 1, true, wanted);
        expect_with_limit(devices[d], once, true, wanted);
    }
}

/* The error is that of the ordinary plan, and the next step is one of it. */
static void limit_below_both_is_the_error_of_an_ordinary_step(void **state) {
    (void)state;
    uint64_t wanted;
    const int64_t once = measure("lagoon:1", MOST, true, &wanted);
    training t;
    begin(&t, "lagoon:1", 1 << 30, false, all_shards, NULL);
    t.session->devices.device[0].memory_limit = once - 1;
    for (int i = 0; i < 2; i++) {
        step(&t);
        assert_int_equal(t.status, MST_OUT_OF_MEMORY);
        if (!strstr(t.message, "the step needs") || !strstr(t.device, "LAGOON:0")) fail_msg("'%s'", t.message);
        assert_false(mst_session_updates_in_place(t.session));
    }
    t.session->devices.device[0].memory_limit = 0;
    for (int i = 0; i < STEPS; i++) {
        step(&t);
        assert_int_equal(t.status, MST_OK);
    }
    assert_false(t.session->plans[0]->plan->donates);
    assert_true(hash_of(&t) == wanted);
    end(&t);
}

/* While first values are assigned, they are in memory twice. With little memory they are assigned in several runs. */
static void first_values_need_little_more_than_the_state(void **state) {
    (void)state;
    enum { COUNT = 6, ELEMENTS = 1024, BYTES = ELEMENTS * 4 };
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_value v[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char name[8];
        snprintf(name, sizeof name, "v%d", i);
        v[i] = mst_variable(g, name, mst_fill(g, MST_F32, MST_SHAPE(ELEMENTS), i));
    }
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "lagoon:1", .memory_limit = (COUNT + 1) * BYTES},
                                 &session));
    EXPECT_OK(mst_session_init_variables(session));
    assert_int_equal(session->state_bytes[0], COUNT * BYTES);
    for (int i = 0; i < COUNT; i++) {
        mst_tensor *value;
        EXPECT_OK(mst_session_get_variable(session, v[i], &value));
        assert_true(mst_tensor_get(value, ELEMENTS - 1) == i);
        mst_tensor_release(value);
    }
    engine_end(g, session);
    g = engine_graph();
    mst_variable(g, "large", mst_fill(g, MST_F32, MST_SHAPE(ELEMENTS), 1));
    EXPECT_OK(
        mst_session_create(g, &(mst_session_options){.devices = "lagoon:1", .memory_limit = BYTES * 3 / 2}, &session));
    EXPECT_ERROR(mst_session_init_variables(session), MST_OUT_OF_MEMORY, "the limit is");
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

/* The sum over the products of all pairs of N numbers: one program, with N * N elements inside. */
static mst_value sum_of_pairs(mst_value x, int64_t n) {
    return mst_reduce_sum(
        mst_square(mst_matmul(mst_reshape(x, MST_SHAPE(n, 1)), mst_reshape(mst_add(x, x), MST_SHAPE(1, n)))));
}

/* A device that compiles has a limit for what lies inside its programs too. The session goes on without the step. */
static void limit_counts_what_lies_inside_programs(void **state) {
    (void)state;
    enum { MEGABYTE = 1 << 20 };
    static const struct {
        int64_t n, limit;
        bool fits;
    } cases[] = {{1024, 4 * MEGABYTE, false}, {1024, 16 * MEGABYTE, true}, {128, 4 * MEGABYTE, true}, {1024, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t n = cases[i].n;
        mst_graph *g = engine_graph();
        mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(n)), y = mst_placeholder(g, MST_F32, MST_SHAPE(4));
        mst_value large = sum_of_pairs(x, n), small = mst_reduce_sum(mst_square(y));
        mst_tensor *numbers = NULL, *few = NULL, *out = NULL;
        mst_session *session;
        EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(n), &numbers));
        EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(4), &few));
        for (int64_t k = 0; k < n; k++) mst_tensor_set(numbers, k, 0.5);
        for (int k = 0; k < 4; k++) mst_tensor_set(few, k, k);
        EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "lagoon:1", .memory_limit = cases[i].limit},
                                     &session));
        for (int run = 0; run < 2; run++) {
            const mst_feed feeds[] = {{.value = x, .tensor = numbers}};
            if (cases[i].fits) {
                EXPECT_OK(mst_session_run(session, feeds, 1, &large, 1, &out));
                assert_true(mst_tensor_get(out, 0) == (double)(n * n) / 4);
                assert_true((session->inside_bytes[0] > n * n * 4) == (cases[i].limit > 0));
            } else {
                EXPECT_ERROR(mst_session_run(session, feeds, 1, &large, 1, &out), MST_OUT_OF_MEMORY,
                             "of it inside its programs, the limit is 4.0 MB");
                assert_string_equal(mst_error()->device, session->devices.device[0].text);
                assert_int_equal(session->inside_bytes[0], 0);
            }
            EXPECT_OK(mst_session_run(session, &(mst_feed){.value = y, .tensor = few}, 1, &small, 1, &out));
            assert_true(mst_tensor_get(out, 0) == 14);
        }
        mst_tensor_release(out);
        mst_tensor_release(numbers);
        mst_tensor_release(few);
        engine_end(g, session);
    }
}

/* ---- plans ---- */

/* TEXT without the attributes that donate arguments. The caller frees it. */
static char *without_donations(const char *text) {
    char *out = strdup(text), *at;
    assert_non_null(out);
    while ((at = strstr(out, " {tf.aliasing_output"))) {
        char *end = strchr(at, '}') + 1;
        memmove(at, end, strlen(end) + 1);
    }
    return out;
}

static bool has_text(const mst_plan *plan, const char *text) {
    bool any = false;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        if (node->op == &mst_op_compiled) any |= strcmp(((const mst_compiled_options *)node->options)->text, text) == 0;
    }
    return any;
}

/* The update of several shards is a program of its own in any case: a compiler gets the same operations. With clipping
 * by norm other plans would cut the sums in a program before it. */
static void texts_differ_in_donations_alone(void **state) {
    (void)state;
    mst_model *model[2];
    for (int i = 0; i < 2; i++) {
        const network_run run = {.network = &network_pictures,
                                 .optimizer = {.rule = "adam", .learning_rate = 0.01, .ema_decay = 0.9},
                                 .devices = "lagoon:2",
                                 .shards = 4,
                                 .rows = 24,
                                 .in_place = i == 1};
        model[i] = network_compiled(&run);
        network_fit(model[i], &run, NULL);
    }
    const mst_plan *ordinary = mst_model_session(model[0])->plans[0]->plan,
                   *plan = mst_model_session(model[1])->plans[0]->plan;
    assert_true(plan->donates && ordinary->can_donate);
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        if (node->op != &mst_op_compiled) continue;
        char *text = without_donations(((const mst_compiled_options *)node->options)->text);
        if (!has_text(ordinary, text)) fail_msg("'%s' has another text: %s", node->name, text);
        free(text);
    }
    for (int i = 0; i < 2; i++) mst_model_destroy(model[i]);
}

/* Programs that write are behind the gate, and only they; what is left staged are assignments of whole values. */
static void only_updates_are_behind_the_gate(void **state) {
    (void)state;
    training t;
    int writers = 0, assigns = 0;
    begin(&t, "lagoon:2", 0, true, all_shards, NULL);
    step(&t);
    assert_int_equal(t.status, MST_OK);
    const mst_plan *plan = t.session->plans[0]->plan;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        const bool compiles = mst_plan_compiles(plan, node), is_program = node->op == &mst_op_compiled;
        if (is_program) assert_true(node->writer == (node->region == MST_COMMIT));
        if (is_program && node->writer) {
            const mst_compiled_options *o = node->options;
            writers++;
            assert_int_equal(o->num_faults, 0);
            assert_int_equal(o->num_donated, 3 * 4); /* of each variable: weight, two slots, average */
            assert_non_null(strstr(o->text, "tf.aliasing_output"));
        } else if (compiles && node->writer) {
            assigns++;
        }
    }
    assert_int_equal(writers, 2);
    assert_int_equal(assigns, 2); /* the moving mean on both */
    end(&t);
}

/* ---- the same bits ---- */

static const struct {
    const char *name;
    mst_optimizer optimizer;
} ways[] = {
    {"momentum, clipped by norm, average",
     {.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9, .clip_norm = 0.5, .ema_decay = 0.9}},
    {"adam, clipped by global norm", {.rule = "adam", .learning_rate = 0.01, .clip_global_norm = 0.5}},
    {"adagrad, accumulated", {.rule = "adagrad", .learning_rate = 0.1, .gradient_accumulation_steps = 2}},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Trains, evaluates, and trains on. */
static void train_with_evaluation(const network_run *run, double *loss, char hex[65]) {
    mst_result result;
    mst_model *model = network_compiled(run);
    mst_dataset *data = run->network->data(20);
    network_fit(model, run, NULL);
    EXPECT_OK(mst_evaluate(model, data, 20, &result, NULL));
    *loss = result.loss;
    network_fit(model, run, NULL);
    EXPECT_OK(mst_model_sha256(model, hex));
    assert_int_equal(mst_session_updates_in_place(mst_model_session(model)), run->in_place);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void expect_same_bits(const char *name, network_run run) {
    static const char *const devices[] = {"lagoon:1", "lagoon:2", "lagoon:4"};
    double wanted = 0, loss;
    char hex[2][65];
    run.devices = devices[0];
    train_with_evaluation(&run, &wanted, hex[0]);
    run.in_place = true;
    for (int d = 0; d < 3 && (d == 0 || run.shards % (1 << d) == 0); d++) {
        run.devices = devices[d];
        train_with_evaluation(&run, &loss, hex[1]);
        if (loss != wanted || strcmp(hex[0], hex[1]) != 0)
            fail_msg("%s, %s on %s: other weights", run.network->name, name, devices[d]);
    }
}

static void networks_have_the_same_weights(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++)
        for (int w = 0; w < WAYS; w++)
            expect_same_bits(ways[w].name,
                             (network_run){.network = networks[n], .optimizer = ways[w].optimizer, .shards = 4});
}

static void steps_of_one_shard_have_the_same_weights(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++)
        expect_same_bits("1 shard", (network_run){.network = networks[n], .optimizer = ways[0].optimizer, .shards = 1});
}

static void checked_and_recomputed_steps_have_the_same_weights(void **state) {
    (void)state;
    network_run run = {.network = &network_pictures, .optimizer = ways[1].optimizer, .shards = 4};
    run.check_numerics = true;
    expect_same_bits("check_numerics", run);
    run.recompute = true;
    expect_same_bits("check_numerics and recompute", run);
    run = (network_run){.network = &network_pictures, .optimizer = ways[0].optimizer, .shards = 4};
    run.precision = MST_MIXED_BFLOAT16;
    expect_same_bits("bf16", run);
}

/* Beside a CPU that keeps the variables too, and updates them behind the gate in any case. */
static void steps_beside_a_cpu_have_the_same_weights(void **state) {
    (void)state;
    char hex[2][65];
    for (int i = 0; i < 2; i++) {
        const network_run run = {.network = &network_pictures,
                                 .optimizer = ways[1].optimizer,
                                 .devices = "lagoon:2,cpu:1/1",
                                 .shards = 3,
                                 .in_place = i == 1};
        network_train(&run, NULL, hex[i]);
    }
    assert_string_equal(hex[0], hex[1]);
}

/* ---- two tasks ---- */

static void step_together(member *m) {
    step(m->context);
}

static void two_tasks_have_the_same_state(void **state) {
    (void)state;
    static members all;
    static training t[TASKS];
    const mst_shards window[TASKS] = {{0, SHARDS / 2}, {SHARDS / 2, SHARDS / 2}};
    uint64_t wanted;
    measure("lagoon:1", 0, false, &wanted);
    members_open_windows(&all, &mst_transport_inproc, TASKS, window);
    for (int i = 0; i < TASKS; i++) {
        begin(&t[i], "lagoon:1", 0, i == 0, window[i], all.member[i].group); /* one of them updates in place */
        all.member[i].context = &t[i];
    }
    for (int k = 0; k < STEPS; k++) {
        members_run(&all, step_together);
        for (int i = 0; i < TASKS; i++)
            if (t[i].status) fail_msg("task %d: '%s'", i, t[i].message);
    }
    for (int i = 0; i < TASKS; i++) {
        assert_true(hash_of(&t[i]) == wanted);
        end(&t[i]);
    }
    members_close(&all);
}

/* ---- programs that fail, each in a process of its own ---- */

enum { BEFORE, BEHIND, MOST_NAMED = 8 };

/* The value of an entry if it is whole, else NULL. */
static mst_tensor *value_if_whole(mst_store *store, const mst_state_info *info) {
    mst_tensor *value = NULL;
    const mst_status status = mst_store_get(store, info->container, info->name, &value);
    if (info->torn) {
        assert_int_equal(status, MST_CORRUPT);
        assert_non_null(strstr(mst_error()->message, info->name));
    } else if (status) {
        fail_msg("'%s': '%s'", info->name, mst_error()->message);
    }
    return value;
}

/* T's step failed behind the gate, in the update of a device. What was left torn is named, and refused; all else has
 * the value that the step gives, which is made again from BEFORE. */
static void expect_torn(training *t, const mst_snapshot *before) {
    mst_store *store = mst_session_store(t->session);
    mst_state_info *info;
    int64_t count, torn = 0, named = 0;
    char quoted[128], more[32];
    EXPECT_OK(mst_store_list(store, &info, &count));
    mst_tensor **value = calloc((size_t)count + 1, sizeof *value);
    assert_non_null(value);
    if (!strstr(t->node, "step") || !strstr(t->device, "LAGOON")) fail_msg("at '%s' on '%s'", t->node, t->device);
    for (int64_t i = 0; i < count; i++) {
        value[i] = value_if_whole(store, &info[i]);
        snprintf(quoted, sizeof quoted, "'%s'", info[i].name);
        const bool is_updated =
            info[i].kind == MST_STATE_WEIGHT || info[i].kind == MST_STATE_SLOT || info[i].kind == MST_STATE_AVERAGE;
        if (info[i].torn && !is_updated) fail_msg("%s is torn", quoted);
        torn += info[i].torn;
        named += info[i].torn && strstr(t->message, quoted);
        if (!info[i].torn && strstr(t->message, quoted)) fail_msg("%s is whole: '%s'", quoted, t->message);
    }
    snprintf(more, sizeof more, "and %d more", (int)(torn - named));
    if (torn == 0 || named != (torn < MOST_NAMED ? torn : MOST_NAMED) || (named < torn && !strstr(t->message, more)))
        fail_msg("%d are torn: '%s'", (int)torn, t->message);
    step(t); /* refused, and nothing changes */
    assert_int_equal(t->status, MST_CORRUPT);
    EXPECT_OK(mst_store_restore(store, before));
    step(t);
    if (t->status) fail_msg("after restoring: '%s'", t->message);
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *again;
        EXPECT_OK(mst_store_get(store, info[i].container, info[i].name, &again));
        const bool is_same = !value[i] || engine_same_bits(value[i], again);
        if (!is_same && strcmp(info[i].name, MST_STATE_RUNS) != 0)
            fail_msg("'%s' was not that of the step", info[i].name);
        mst_tensor_release(again);
        mst_tensor_release(value[i]);
    }
    free(value);
    free(info);
}

/* A program behind the gate that is not compiled in time fails the step before the gate. All else must be done in time,
 * on a busy machine too. */
static int run_child_uncompiled(const char *const variable[2]) {
    training t;
    begin_with(&t, &(mst_session_options){.devices = "lagoon:2", .timeout = 4}, true, all_shards, NULL);
    setenv(variable[0], variable[1], 1);
    mst_snapshot *before = state_of(mst_session_store(t.session));
    step(&t);
    if (t.status) {
        mst_snapshot *after = state_of(mst_session_store(t.session));
        state_expect_same("step whose program was not compiled", after, before, true);
        mst_snapshot_release(after);
    }
    printf("%d %d %s\n", (int)t.status, strstr(t.message, "torn") != NULL, t.node);
    fflush(stdout);
    _exit(0); /* the compiling goes on */
}

/* A program behind the gate does not end. The call returns at its deadline, and so do calls that read a value. */
static int run_child_stuck(const char *const variable[2]) {
    training t;
    begin_with(&t, &(mst_session_options){.devices = "lagoon:2", .timeout = 4}, true, all_shards, NULL);
    setenv(variable[0], variable[1], 1);
    step(&t);
    mst_tensor *value = NULL;
    printf("%d %d %s\n", (int)t.status, (int)mst_store_get(mst_session_store(t.session), "", "w", &value), t.node);
    fflush(stdout);
    _exit(0);
}

static int run_child(const char *mode, const char *const variable[2]) {
    training t;
    if (strcmp(mode, "uncompiled") == 0) return run_child_uncompiled(variable);
    if (strcmp(mode, "stuck") == 0) return run_child_stuck(variable);
    int failed[2] = {0, 0};
    begin(&t, "lagoon:2", 0, true, all_shards, NULL);
    setenv(variable[0], variable[1], 1);
    for (int made = 0; made < STEPS; made++) {
        mst_snapshot *before = state_of(mst_session_store(t.session)), *after;
        step(&t);
        if (t.status && (t.status != MST_UNAVAILABLE || !strstr(t.message, "program failed")))
            fail_msg("%s", t.message);
        if (t.status && strstr(t.message, "torn now")) {
            failed[BEHIND]++;
            expect_torn(&t, before);
        } else if (t.status) {
            failed[BEFORE]++;
            after = state_of(mst_session_store(t.session));
            state_expect_same("failed step", after, before, true);
            mst_snapshot_release(after);
            made--;
        }
        mst_snapshot_release(before);
    }
    printf("%d %d %llx\n", failed[BEFORE], failed[BEHIND], (unsigned long long)hash_of(&t));
    end(&t);
    return 0;
}

enum { MOST_TEXT = 4096 };

/* Runs a process in MODE with VARIABLE=N from its first step on, so that run number N of a program fails or is stuck;
 * 0: none. Sets TEXT to its output. */
static void run_process(const char *mode, const char *variable, int n, char text[MOST_TEXT]) {
    char number[16];
    int out[2], status;
    size_t length = 0;
    assert_int_equal(pipe(out), 0);
    snprintf(number, sizeof number, "%d", n);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        execl("/proc/self/exe", "donation", mode, variable, number, NULL);
        _exit(127);
    }
    close(out[1]);
    for (ssize_t more; (more = read(out[0], text + length, MOST_TEXT - 1 - length)) > 0;) length += (size_t)more;
    text[length] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("run %d: status 0x%x, '%s'", n, (unsigned)status, text);
}

/* Trains in a process in which run number N fails; 0: none. */
static void train(int n, int failed[2], unsigned long long *hash) {
    char text[MOST_TEXT];
    run_process("train", "MUSTER_LAGOON_FAIL", n, text);
    if (sscanf(text, "%d %d %llx", &failed[BEFORE], &failed[BEHIND], hash) != 3) fail_msg("run %d: '%s'", n, text);
}

static bool names_update(const char *text) {
    return strstr(text, "/step") != NULL;
}

/* One program after the other is not compiled in time. The step compiles all of its programs, that of the update
 * too. */
static void program_that_is_not_compiled_in_time_tears_nothing(void **state) {
    (void)state;
    char text[MOST_TEXT];
    int status, torn, updates = 0;
    for (int n = 1;; n++) {
        assert_in_range(n, 1, 40);
        run_process("uncompiled", "MUSTER_LAGOON_COMPILE_STUCK", n, text);
        if (sscanf(text, "%d %d", &status, &torn) != 2) fail_msg("text %d: '%s'", n, text);
        if (!status) break;
        assert_int_equal(status, MST_DEADLINE);
        assert_int_equal(torn, 0);
        updates += names_update(text);
    }
    assert_int_equal(updates, 1);
}

/* The first run of a program of the update is RUN. */
static void expect_return_when_stuck(int run) {
    char text[MOST_TEXT];
    int status[2];
    run_process("stuck", "MUSTER_LAGOON_STUCK", run, text);
    if (sscanf(text, "%d %d", &status[0], &status[1]) != 2) fail_msg("'%s'", text);
    assert_int_equal(status[0], MST_DEADLINE);
    assert_int_equal(status[1], MST_DEADLINE);
    assert_true(names_update(text));
}

static void program_that_fails_tears_only_what_its_device_had_to_write(void **state) {
    (void)state;
    unsigned long long wanted, hash;
    int failed[2] = {0, 0}, all[2] = {0, 0}, first = 0;
    train(0, failed, &wanted);
    assert_int_equal(failed[BEFORE] + failed[BEHIND], 0);
    for (int n = 1; n == 1 || failed[BEFORE] + failed[BEHIND]; n++) {
        train(n, failed, &hash);
        if (failed[BEFORE] + failed[BEHIND] > 1) fail_msg("run %d: %d and %d steps failed", n, failed[0], failed[1]);
        if (hash != wanted) fail_msg("run %d: the training ends with other bits", n);
        for (int k = 0; k < 2; k++) all[k] += failed[k];
        if (!first && failed[BEHIND]) first = n;
    }
    expect_return_when_stuck(first);
    assert_int_equal(all[BEHIND], STEPS * 2); /* one program of each step on each device */
    assert_true(all[BEFORE] > STEPS * SHARDS);
}

int main(int argc, char **argv) {
    if (argc == 4) return run_child(argv[1], (const char *const[]){argv[2], argv[3]});
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_chooses_where_updates_are_made),
        cmocka_unit_test(limit_below_both_is_the_error_of_an_ordinary_step),
        cmocka_unit_test(first_values_need_little_more_than_the_state),
        cmocka_unit_test(limit_counts_what_lies_inside_programs),
        cmocka_unit_test(only_updates_are_behind_the_gate),
        cmocka_unit_test(texts_differ_in_donations_alone),
        cmocka_unit_test(networks_have_the_same_weights),
        cmocka_unit_test(steps_of_one_shard_have_the_same_weights),
        cmocka_unit_test(checked_and_recomputed_steps_have_the_same_weights),
        cmocka_unit_test(steps_beside_a_cpu_have_the_same_weights),
        cmocka_unit_test(two_tasks_have_the_same_state),
        cmocka_unit_test(program_that_is_not_compiled_in_time_tears_nothing),
        cmocka_unit_test(program_that_fails_tears_only_what_its_device_had_to_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
