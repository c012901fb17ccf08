/* What a step copies between memory domains, which device does which work, and that the bits are those of one
 * device. sparse_test.c tests the rows of embeddings. */
#include "support/sanitized.h"
#include "support/test.h"

#include "muster/store.h"

typedef struct place {
    mst_strategy_kind kind;
    const char *devices;
    int shards;
} place;

/* What the second step over PLACE copies; the first moves constants and first values. PLAN: a file for the plan, or
 * NULL. */
static int64_t copied_in_a_step(place at, mst_replica_function replica, void *context, FILE *plan) {
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_strategy strategy = {.kind = at.kind, .num_shards = at.shards};
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    mst_step_values values;
    EXPECT_OK(mst_session_create(
        g, &(mst_session_options){.devices = at.devices, .plan_log = plan, .plan_pass = plan ? "memory" : NULL},
        &session));
    engine_build_step(g, session, &strategy, &sgd, replica, context, &values);
    int64_t copied = 0;
    for (int i = 0; i < 2; i++) {
        const int64_t before = mst_session_copied_bytes(session);
        EXPECT_OK(mst_session_run(session, NULL, 0, &values.train, 1, NULL));
        copied = mst_session_copied_bytes(session) - before;
    }
    engine_end(g, session);
    return copied;
}

/* ---- rows of embeddings ---- */

enum { ROWS = 20000, COLUMNS = 32, TAKEN = 512, ROW_BYTES = COLUMNS * 4 + 8 };

/* Words below USED, each several times. */
static void take_rows(void *context, mst_graph *graph, int shard, mst_replica *out) {
    const int64_t used = *(const int64_t *)context;
    (void)shard;
    mst_value table = mst_get_variable(graph, "table", MST_SHAPE(ROWS, COLUMNS), MST_F32, mst_constant_initializer(1));
    mst_value words = mst_random_uniform_int(graph, MST_SHAPE(TAKEN), .high = used, .dtype = MST_I32);
    out->loss = mst_reduce_mean(mst_square(mst_gather(table, words, 0)), .axes = MST_AXES(1));
}

static int64_t copied_rows(mst_strategy_kind kind, int domains, int64_t used) {
    char devices[32];
    snprintf(devices, sizeof devices, "island:%d/1", domains);
    return copied_in_a_step((place){kind, devices, domains}, take_rows, &used, NULL);
}

static void rows_travel_by_count_and_not_at_their_bound(void **state) {
    (void)state;
    enum { DOMAINS = 4, USED = 16 };
    /* each domain sends its rows to where they are added up, and gets the sums */
    const int64_t most = 2 * DOMAINS * USED * ROW_BYTES + DOMAINS * 256;
    const int64_t copied = copied_rows(MST_STRATEGY_MIRRORED, DOMAINS, USED);
    if (copied > most) fail_msg("a step copies %lld bytes, more than %lld", (long long)copied, (long long)most);
}

static void rows_that_travel_grow_linearly_with_domains_and_with_rows_used(void **state) {
    (void)state;
    const double four = (double)copied_rows(MST_STRATEGY_MIRRORED, 4, 100);
    const double sixteen = (double)copied_rows(MST_STRATEGY_MIRRORED, 16, 100);
    const double few = (double)copied_rows(MST_STRATEGY_MIRRORED, 4, 10);
    /* what one domain has does not cross: 3 and 15 others */
    if (sixteen > 1.1 * 5 * four) fail_msg("4 domains copy %.0f bytes, 16 copy %.0f", four, sixteen);
    if (four > 11 * few || four < 7 * few) fail_msg("10 rows: %.0f bytes, 100 rows: %.0f", few, four);
}

/* ---- towers ---- */

enum { FEATURES = 100, GRADIENT_BYTES = FEATURES * FEATURES * 4 };

static void one_product(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)context, (void)shard;
    mst_value x = mst_random_uniform(graph, MST_SHAPE(2, FEATURES));
    mst_value w = mst_get_variable(graph, "w", MST_SHAPE(FEATURES, FEATURES), MST_F32, mst_constant_initializer(1));
    out->loss = mst_reduce_mean(mst_square(mst_matmul(x, w)), .axes = MST_AXES(1));
}

static void towers_of_one_domain_send_one_gradient(void **state) {
    (void)state;
    /* the variable is on the first island; shards 4 to 7 are in the host's memory, a node of the tree */
    const int64_t copied =
        copied_in_a_step((place){MST_STRATEGY_TOWERS, "island:4/1,cpu:4/1", 8}, one_product, NULL, NULL);
    const int64_t weights = 4 * GRADIENT_BYTES, gradients = 4 * GRADIENT_BYTES;
    if (copied > weights + gradients + GRADIENT_BYTES / 2)
        fail_msg("a step copies %lld bytes: %.1f gradients and weights", (long long)copied,
                 (double)copied / GRADIENT_BYTES);
}

static void towers_of_one_domain_send_each_row_once(void **state) {
    (void)state;
    int64_t used = 50;
    const int64_t apart = copied_in_a_step((place){MST_STRATEGY_TOWERS, "island:8/1", 8}, take_rows, &used, NULL);
    const int64_t together =
        copied_in_a_step((place){MST_STRATEGY_TOWERS, "island:1/1,cpu:7/1", 8}, take_rows, &used, NULL);
    /* of the rows; the table itself goes to each other domain: shards 1, 2..3, 4..7 in place of seven */
    const int64_t table = (int64_t)ROWS * COLUMNS * 4;
    const int64_t seven = apart - 7 * table, three = together - table;
    if (three > seven / 2) fail_msg("%lld bytes of rows, and %lld apart", (long long)three, (long long)seven);
}

/* ---- who adds up ---- */

static void wide_product(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)context, (void)shard;
    mst_value x = mst_random_uniform(graph, MST_SHAPE(1, 1000));
    mst_value w = mst_get_variable(graph, "w", MST_SHAPE(1000, 400), MST_F32, mst_constant_initializer(1));
    out->loss = mst_reduce_mean(mst_square(mst_matmul(x, w)), .axes = MST_AXES(1));
}

/* Nodes of OP on DEVICE. */
static int count_nodes(const char *plan, const char *op, const char *device) {
    char line[8192], call[64], where[64];
    int count = 0;
    snprintf(call, sizeof call, "= %s(", op);
    snprintf(where, sizeof where, "device:%s", device);
    for (const char *at = plan; *at; at = strchr(at, '\n') + 1) {
        snprintf(line, sizeof line, "%.*s ", (int)(strchr(at, '\n') - at), at);
        const char *found = strstr(line, where);
        count += strstr(line, call) && found && !strchr("0123456789", found[strlen(where)]);
    }
    return count;
}

static void all_devices_of_a_domain_share_the_sums(void **state) {
    (void)state;
    static const char *const devices[] = {"CPU:0", "CPU:1", "CPU:2", "CPU:3", "ISLAND:0"};
    char *text;
    size_t size;
    FILE *plan = open_memstream(&text, &size);
    copied_in_a_step((place){MST_STRATEGY_MIRRORED, "cpu:4/1,island:1/1", 5}, wide_product, NULL, plan);
    fclose(plan);
    /* each of the host's devices completes a piece, for which it receives the sum of the island; it adds up the shards
     * of the host for a piece of the island, and receives the whole sum of one */
    for (int i = 0; i < 5; i++) {
        const int sums = count_nodes(text, "sum_leaves", devices[i]);
        if (sums < (i < 4 ? 2 : 1)) fail_msg("%s makes %d sums", devices[i], sums);
        const int received = count_nodes(text, "receive", devices[i]);
        if (received < 2) fail_msg("%s receives %d values", devices[i], received);
    }
    free(text);
}

/* ---- bits ---- */

/* A weight of many units, so that each device owns some, and small ones. */
static void two_products(void *context, mst_graph *graph, int shard, mst_replica *out) {
    mst_value *w = context;
    (void)shard;
    mst_value x = mst_random_uniform(graph, MST_SHAPE(3, 700), .low = -1);
    w[0] = mst_get_variable(graph, "w0", MST_SHAPE(700, 600), MST_F32, mst_random_uniform_initializer(.high = 0.1));
    w[1] = mst_get_variable(graph, "b0", MST_SHAPE(600), MST_F32, mst_zeros_initializer());
    w[2] = mst_get_variable(graph, "w1", MST_SHAPE(600, 3), MST_F32, mst_random_uniform_initializer(.high = 0.1));
    x = mst_tanh(mst_add(mst_matmul(x, w[0]), w[1]));
    out->loss = mst_reduce_mean(mst_square(mst_matmul(x, w[2])), .axes = MST_AXES(1));
}

enum { WEIGHTS = 3 };

static void train_at(place at, const mst_optimizer *optimizer, mst_tensor *out[WEIGHTS]) {
    mst_graph *g = engine_graph();
    mst_session *session = engine_session(g, at.devices);
    mst_strategy strategy = {.kind = at.kind, .num_shards = at.shards};
    mst_step_values values;
    mst_value w[WEIGHTS];
    engine_build_step(g, session, &strategy, optimizer, two_products, w, &values);
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_session_run(session, NULL, 0, &values.train, 1, NULL));
    for (int i = 0; i < WEIGHTS; i++) EXPECT_OK(mst_session_get_variable(session, w[i], &out[i]));
    engine_end(g, session);
}

static void weights_are_those_of_one_device_whichever_shards_a_domain_has(void **state) {
    (void)state;
    static const place places[] = {
        {MST_STRATEGY_MIRRORED, "cpu:4/1,island:1/1", 5}, {MST_STRATEGY_MIRRORED, "island:1/1,cpu:4/1", 10},
        {MST_STRATEGY_MIRRORED, "cpu:3/1,island:3/1", 6}, {MST_STRATEGY_MIRRORED, "island:3/1", 12},
        {MST_STRATEGY_MIRRORED, "cpu:2/2,island:1/2", 9}, {MST_STRATEGY_TOWERS, "island:1/1,cpu:4/1", 5},
        {MST_STRATEGY_TOWERS, "island:2/1,cpu:4/1", 12}};
    const mst_optimizer optimizers[] = {mst_sgd(.learning_rate = 0.1, .momentum = 0.9),
                                        mst_adam(.clip_global_norm = 0.1)};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int k = 0; k < 2; k++) {
            if (SANITIZED && k != (int)(p % 2)) continue; /* one of the optimizers at each place */
            mst_tensor *wanted[WEIGHTS], *got[WEIGHTS];
            train_at((place){MST_STRATEGY_ONE, "cpu:1/1", places[p].shards}, &optimizers[k], wanted);
            train_at(places[p], &optimizers[k], got);
            for (int i = 0; i < WEIGHTS; i++) {
                if (!engine_same_bits(got[i], wanted[i]))
                    fail_msg("strategy %d on %s, %d shards: weight %d differs", (int)places[p].kind, places[p].devices,
                             places[p].shards, i);
                mst_tensor_release(got[i]);
                mst_tensor_release(wanted[i]);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_travel_by_count_and_not_at_their_bound),
        cmocka_unit_test(rows_that_travel_grow_linearly_with_domains_and_with_rows_used),
        cmocka_unit_test(towers_of_one_domain_send_one_gradient),
        cmocka_unit_test(towers_of_one_domain_send_each_row_once),
        cmocka_unit_test(all_devices_of_a_domain_share_the_sums),
        cmocka_unit_test(weights_are_those_of_one_device_whichever_shards_a_domain_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
