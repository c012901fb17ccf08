/* A child of fork() has no threads for objects that were made before the fork: calls fail instead of waiting. */
#include <sys/wait.h>
#include <unistd.h>

#include "muster/muster.h"
#include "support/test.h"
#include "support/training.h"

static mst_graph *graph;
static mst_session *session;
static mst_value w;

/* The work of the child. Returns 0 if everything is right, else the number of the line. */
static int in_child(int (*act)(void)) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        alarm(60); /* a call that waits forever */
        _exit(act());
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) fail_msg("the child died of signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

#define CHECK(condition) \
    if (!(condition)) return __LINE__ % 255 + 1
#define REFUSED(call, what) \
    CHECK((call) == MST_INVALID && strstr(mst_error()->message, what ": it was made before fork()"))

static int use_session(void) {
    mst_tensor *out = NULL;
    REFUSED(mst_session_run(session, NULL, 0, &w, 1, &out), "session");
    REFUSED(mst_session_init_variables(session), "session");
    REFUSED(mst_session_get_variable(session, w, &out), "session");
    mst_tensor *value = engine_tensor(MST_F32, MST_SCALAR, &(const double){1});
    REFUSED(mst_session_set_variable(session, w, value), "session");
    CHECK(mst_session_plan_info(session).nodes == 0);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return 0;
}

static int use_store(void) {
    mst_store *store = mst_session_store(session);
    mst_tensor *out = NULL, *value = engine_tensor(MST_F32, MST_SCALAR, &(const double){1});
    mst_state_info *list;
    mst_snapshot *snapshot;
    mst_session *other;
    int64_t count;
    REFUSED(mst_store_list(store, &list, &count), "store");
    REFUSED(mst_store_get(store, "", "w", &out), "store");
    REFUSED(mst_store_set(store, "", "w", MST_STATE_WEIGHT, value), "store");
    REFUSED(mst_store_snapshot(store, &snapshot), "store");
    CHECK(mst_snapshot_create(&snapshot) == MST_OK);
    REFUSED(mst_store_restore(store, snapshot), "store");
    REFUSED(mst_session_create(graph, &(mst_session_options){.store = store}, &other), "store");
    return 0;
}

/* The thread sanitizer lets the child of a process with threads start none: then one device of one thread. */
#ifndef __has_feature /* of clang */
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
static const char own_devices[] = "cpu:1/1";
#else
static const char own_devices[] = "cpu:2/2";
#endif

static int make_another(void) {
    mst_session *own;
    mst_tensor *out = NULL;
    CHECK(mst_session_create(graph, &(mst_session_options){.devices = own_devices}, &own) == MST_OK);
    CHECK(mst_session_init_variables(own) == MST_OK);
    CHECK(mst_session_run(own, NULL, 0, &w, 1, &out) == MST_OK);
    CHECK(mst_tensor_get(out, 0) == 2);
    mst_session_destroy(own);
    return 0;
}

static mst_model *model;
static mst_dataset *data;
static mst_iterator *iterator;

static int train(void) {
    mst_tensor *out;
    REFUSED(mst_fit(model, data, .batch_size = 4), "store");
    REFUSED(mst_predict(model, data, 4, &out), "session");
    mst_model_destroy(model);
    return 0;
}

static int iterate(void) {
    const mst_batch *batch;
    REFUSED(mst_iterator_next(iterator, &batch), "iterator with prefetch");
    REFUSED(mst_iterator_skip(iterator, 1), "iterator with prefetch");
    mst_iterator_destroy(iterator);
    return 0;
}

static void set_up(const char *devices) {
    graph = engine_graph();
    w = mst_variable(graph, "w", mst_scalar(graph, MST_F32, 2));
    session = engine_session(graph, devices);
    engine_run(session, w);
}

static void calls_on_a_session_and_its_store_fail_in_the_child_and_go_on_in_the_parent(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1", "cpu:2/2"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        set_up(devices[i]);
        assert_int_equal(in_child(use_session), 0);
        assert_int_equal(in_child(use_store), 0);
        assert_true(engine_number(session, w) == 2);
        engine_end(graph, session);
    }
}

static void child_makes_a_session_of_its_own(void **state) {
    (void)state;
    set_up("cpu:2/2");
    assert_int_equal(in_child(make_another), 0);
    engine_end(graph, session);
}

static void model_of_the_parent_does_not_train_in_the_child(void **state) {
    (void)state;
    data = training_data(8, 2, 2, 1);
    model = training_model(2, 2, 0);
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:2/1"}));
    EXPECT_OK(mst_fit(model, data, .batch_size = 4));
    assert_int_equal(in_child(train), 0);
    EXPECT_OK(mst_fit(model, data, .batch_size = 4));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void iterator_with_a_thread_fails_in_the_child(void **state) {
    (void)state;
    mst_dataset *batches, *ahead;
    const mst_batch *batch;
    data = training_data(8, 2, 2, 1);
    EXPECT_OK(mst_dataset_batch(data, 2, false, &batches));
    EXPECT_OK(mst_dataset_prefetch(batches, 1, &ahead));
    EXPECT_OK(mst_iterator_create(ahead, 0, &iterator));
    EXPECT_OK(mst_iterator_next(iterator, &batch));
    assert_int_equal(in_child(iterate), 0);
    EXPECT_OK(mst_iterator_next(iterator, &batch));
    mst_iterator_destroy(iterator);
    mst_dataset_release(ahead);
    mst_dataset_release(batches);
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_on_a_session_and_its_store_fail_in_the_child_and_go_on_in_the_parent),
        cmocka_unit_test(child_makes_a_session_of_its_own),
        cmocka_unit_test(model_of_the_parent_does_not_train_in_the_child),
        cmocka_unit_test(iterator_with_a_thread_fails_in_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
