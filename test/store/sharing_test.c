/* Several sessions on one store: each with a graph and devices of its own. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/test.h"
#include "support/training.h"

static mst_session *session_on(mst_graph *g, const char *devices, mst_store *store) {
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = devices, .store = store}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    return session;
}

/* "w" of 6 numbers that begin with INITIAL. */
static mst_value weights(mst_graph *g, double initial) {
    return mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(6), initial));
}

static void sessions_see_what_the_others_write(void **state) {
    (void)state;
    static const char *const devices[][2] = {
        {"cpu:1/1", "cpu:1/1"}, {"cpu:2/1", "cpu:1/1"}, {"cpu:1/1", "cpu:3/1"}, {"cpu:3/1", "cpu:2/1"}};
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        for (int d = 0; d < 4; d++) {
            mst_store *store;
            EXPECT_OK(mst_store_create(&store));
            mst_graph *g = engine_graph(), *h = engine_graph();
            const mst_value w = weights(g, 1), same = weights(h, 50); /* the second finds it there */
            if (mirrored && strncmp(devices[d][0], "cpu:1", 5) != 0)
                mst_variable_mirror(w, engine_here("/cpu:0,/cpu:1"));
            const mst_value grow = mst_assign_add(w, mst_fill(g, MST_F32, MST_SHAPE(6), 1));
            const mst_value sum = mst_reduce_sum(same), halve = mst_assign(same, mst_scale(same, 0.5));
            mst_session *a = session_on(g, devices[d][0], store), *b = session_on(h, devices[d][1], store);
            double wanted = 1;
            for (int i = 0; i < 6; i++) {
                engine_run(a, grow);
                assert_true(engine_number(b, sum) == 6 * (wanted + 1));
                engine_run(b, halve);
                wanted = (wanted + 1) / 2;
                assert_true(engine_number(a, mst_reduce_sum(w)) == 6 * wanted);
            }
            engine_end(g, a);
            assert_true(engine_number(b, sum) == 6 * wanted); /* the value stays when its writer goes */
            engine_end(h, b);
            mst_store_release(store);
        }
    }
}

static void session_keeps_its_store(void **state) {
    (void)state;
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    mst_graph *g = engine_graph();
    const mst_value sum = mst_reduce_sum(weights(g, 2));
    mst_session *session = session_on(g, "cpu:2/1", store);
    assert_ptr_equal(mst_session_store(session), store);
    mst_store_release(store);
    assert_true(engine_number(session, sum) == 12);
    engine_end(g, session);
}

static void two_sessions_cannot_give_one_name_different_shapes(void **state) {
    (void)state;
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    mst_graph *g = engine_graph(), *h = engine_graph();
    weights(g, 1);
    const mst_value other = mst_variable(h, "w", mst_fill(h, MST_F64, MST_SHAPE(6), 1)), y = mst_neg(other);
    mst_session *a = session_on(g, NULL, store), *b;
    EXPECT_OK(mst_session_create(h, &(mst_session_options){.store = store}, &b));
    EXPECT_ERROR(mst_session_run(b, NULL, 0, &y, 1, NULL), MST_INVALID, "'w' is f32[6] there, and is wanted as f64[6]");
    engine_end(g, a);
    engine_end(h, b);
    mst_store_release(store);
}

/* ---- while others come and go ---- */

enum { ROUNDS = 60 };

typedef struct visitor {
    mst_store *store;
    int index, wrong;
} visitor;

/* Opens a session, adds 1 to all of "w", looks, and goes. */
static void *visit(void *context) {
    visitor *v = context;
    for (int i = 0; i < ROUNDS; i++) {
        mst_graph *g;
        mst_session *session;
        mst_tensor *got = NULL;
        if (mst_graph_create(&g)) return v;
        const mst_value w = weights(g, 0), grow = mst_assign_add(w, mst_fill(g, MST_F32, MST_SHAPE(6), 1));
        const mst_session_options options = {.devices = v->index % 2 ? "cpu:2/1" : "cpu:1/1", .store = v->store};
        if (mst_session_create(g, &options, &session)) return v;
        if (mst_session_run(session, NULL, 0, &grow, 1, &got)) return v;
        for (int k = 1; k < 6; k++) v->wrong += mst_tensor_get(got, k) != mst_tensor_get(got, 0);
        mst_tensor_release(got);
        mst_session_destroy(session);
        mst_graph_destroy(g);
    }
    return NULL;
}

/* Reads and writes from outside, where a value may be in the memory of a session that is just ending. */
static void *look_on(void *context) {
    visitor *v = context;
    double last = 0;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        mst_tensor *got;
        if (mst_store_get(v->store, NULL, "w", &got)) return v;
        for (int k = 1; k < 6; k++) v->wrong += mst_tensor_get(got, k) != mst_tensor_get(got, 0);
        v->wrong += mst_tensor_get(got, 0) < last;
        last = mst_tensor_get(got, 0);
        const mst_status status = mst_store_set(v->store, NULL, "other", MST_STATE_METRIC, got);
        mst_tensor_release(got);
        if (status) return v;
    }
    return NULL;
}

static void sessions_that_come_and_go_lose_no_value(void **state) {
    (void)state;
    enum { VISITORS = 3 };
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(6), NULL);
    EXPECT_OK(mst_store_set(store, NULL, "w", MST_STATE_WEIGHT, value));
    mst_tensor_release(value);
    visitor visitors[VISITORS + 1];
    pthread_t thread[VISITORS + 1];
    for (int i = 0; i <= VISITORS; i++) {
        visitors[i] = (visitor){.store = store, .index = i};
        assert_int_equal(pthread_create(&thread[i], NULL, i < VISITORS ? visit : look_on, &visitors[i]), 0);
    }
    for (int i = 0; i <= VISITORS; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
        assert_int_equal(visitors[i].wrong, 0);
    }
    EXPECT_OK(mst_store_get(store, NULL, "w", &value));
    for (int k = 0; k < 6; k++) assert_true(mst_tensor_get(value, k) == VISITORS * ROUNDS);
    mst_tensor_release(value);
    mst_store_release(store);
}

typedef struct beginner {
    mst_store *store;
    pthread_barrier_t *start;
} beginner;

static void *initialise_and_add(void *context) {
    const beginner *b = context;
    mst_graph *g;
    mst_session *session;
    mst_status status = mst_graph_create(&g);
    if (status) return context;
    const mst_value w = weights(g, 10), grow = mst_assign_add(w, mst_fill(g, MST_F32, MST_SHAPE(6), 1));
    status = mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .store = b->store}, &session);
    pthread_barrier_wait(b->start);
    if (!status) status = mst_session_init_variables(session);
    if (!status) status = mst_session_run(session, NULL, 0, &grow, 1, NULL);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    return status ? context : NULL;
}

/* The second to initialise must not set back what the first has written since. */
static void sessions_that_begin_at_once_give_first_values_once(void **state) {
    (void)state;
    enum { STORES = 100, BEGINNERS = 3 };
    for (int i = 0; i < STORES; i++) {
        pthread_barrier_t start;
        pthread_t thread[BEGINNERS];
        beginner b = {.start = &start};
        EXPECT_OK(mst_store_create(&b.store));
        assert_int_equal(pthread_barrier_init(&start, NULL, BEGINNERS), 0);
        for (int k = 0; k < BEGINNERS; k++)
            assert_int_equal(pthread_create(&thread[k], NULL, initialise_and_add, &b), 0);
        for (int k = 0; k < BEGINNERS; k++) {
            void *failed;
            assert_int_equal(pthread_join(thread[k], &failed), 0);
            assert_null(failed);
        }
        pthread_barrier_destroy(&start);
        mst_tensor *value;
        EXPECT_OK(mst_store_get(b.store, NULL, "w", &value));
        assert_true(mst_tensor_get(value, 0) == 10 + BEGINNERS);
        mst_tensor_release(value);
        mst_store_release(b.store);
    }
}

/* ---- models ---- */

enum { ROWS = 60, FEATURES = 5, CLASSES = 3, BATCH = 10, EPOCHS = 3 };

static mst_model *model_on(const char *devices, mst_store *store) {
    mst_model *model = training_model(7, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.05), .metric = {MST_METRIC_ACCURACY},
                          .session = {.devices = devices, .store = store}, .strategy = {.num_shards = 2}, .seed = 5));
    return model;
}

static void train(mst_model *model, const mst_callback *callback) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = EPOCHS, .callbacks = callback,
                      .num_callbacks = callback ? 1 : 0));
    mst_dataset_release(data);
}

typedef struct watch {
    mst_model *model;
    mst_dataset *data;
    double loss[EPOCHS];
} watch;

/* At the end of each epoch the other model, which shares the store, is evaluated. */
static mst_status evaluate_other(void *context, mst_train_state *state) {
    watch *w = context;
    mst_result result;
    MST_TRY(mst_evaluate(w->model, w->data, BATCH, &result, NULL));
    w->loss[state->epoch] = result.loss;
    return MST_OK;
}

static void one_model_trains_and_another_is_evaluated(void **state) {
    (void)state;
    static const char *const devices[][2] = {{"cpu:2/1", "cpu:1/1"}, {"cpu:1/1", "cpu:2/1"}};
    char wanted[65], got[65];
    double loss[EPOCHS];
    mst_dataset *test = training_data(ROWS, FEATURES, CLASSES, 2);
    for (int d = -1; d < 2; d++) { /* -1: a model evaluates itself */
        mst_model *trained = model_on(d < 0 ? "cpu:2/1" : devices[d][0], NULL);
        mst_model *other = d < 0 ? trained : model_on(devices[d][1], mst_model_store(trained));
        assert_ptr_equal(mst_model_store(trained), mst_model_store(other));
        watch w = {.model = other, .data = test};
        train(trained, &(mst_callback){.context = &w, .epoch_end = evaluate_other});
        EXPECT_OK(mst_model_sha256(other, d < 0 ? wanted : got));
        for (int i = 0; i < EPOCHS; i++) {
            if (d < 0) loss[i] = w.loss[i];
            assert_true(fabs(w.loss[i] - loss[i]) < 1e-6);
        }
        if (d >= 0) assert_string_equal(got, wanted);
        if (other != trained) mst_model_destroy(other);
        mst_model_destroy(trained);
    }
    mst_dataset_release(test);
}

typedef struct evaluator {
    mst_model *model;
    mst_dataset *data;
    atomic_bool done;
    int rounds;
    bool failed;
} evaluator;

static void *evaluate_all_the_time(void *context) {
    evaluator *e = context;
    while (!e->failed && (!atomic_load(&e->done) || e->rounds == 0)) {
        mst_result result;
        e->failed = mst_evaluate(e->model, e->data, BATCH, &result, NULL) != MST_OK || !isfinite(result.loss);
        e->rounds++;
    }
    return NULL;
}

static void evaluating_meanwhile_in_another_thread_does_not_disturb_training(void **state) {
    (void)state;
    char wanted[65], got[65];
    pthread_t thread;
    mst_model *alone = model_on("cpu:2/1", NULL), *trained = model_on("cpu:2/1", NULL);
    train(alone, NULL);
    EXPECT_OK(mst_model_sha256(alone, wanted));
    evaluator e = {.model = model_on("cpu:1/1", mst_model_store(trained)),
                   .data = training_data(ROWS, FEATURES, CLASSES, 2)};
    assert_int_equal(pthread_create(&thread, NULL, evaluate_all_the_time, &e), 0);
    train(trained, NULL);
    atomic_store(&e.done, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(e.failed);
    assert_true(e.rounds > 0);
    EXPECT_OK(mst_model_sha256(trained, got));
    assert_string_equal(got, wanted);
    mst_dataset_release(e.data);
    mst_model_destroy(e.model);
    mst_model_destroy(trained);
    mst_model_destroy(alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_see_what_the_others_write),
        cmocka_unit_test(session_keeps_its_store),
        cmocka_unit_test(two_sessions_cannot_give_one_name_different_shapes),
        cmocka_unit_test(sessions_that_come_and_go_lose_no_value),
        cmocka_unit_test(sessions_that_begin_at_once_give_first_values_once),
        cmocka_unit_test(one_model_trains_and_another_is_evaluated),
        cmocka_unit_test(evaluating_meanwhile_in_another_thread_does_not_disturb_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
