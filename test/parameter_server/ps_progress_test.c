/* The progress of servers, in a state that moves to a cluster with more or fewer tasks. */
#include "parameter_server/ps_progress.h"

#include <stdlib.h>

#include "support/test.h"

static void store(mst_store *to, int ps, int workers, int64_t updates) {
    for (int w = 0; w < workers; w++)
        EXPECT_OK(mst_ps_progress_store(to, ps, w, (mst_ps_progress){updates, 10 * updates + w}));
}

static mst_snapshot *snapshot_of(mst_store *of) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_store_snapshot(of, &snapshot));
    return snapshot;
}

static void each_server_has_the_position_of_each_worker(void **state) {
    (void)state;
    mst_store *all;
    mst_ps_progress found;
    EXPECT_OK(mst_store_create(&all));
    store(all, 0, 2, 3);
    store(all, 12, 2, 4);
    mst_snapshot *snapshot = snapshot_of(all);
    assert_true(mst_ps_progress_find(snapshot, 12, 1, &found));
    assert_int_equal(found.updates, 4);
    assert_int_equal(found.position, 41);
    assert_false(mst_ps_progress_find(snapshot, 12, 2, &found));
    assert_false(mst_ps_progress_find(snapshot, 1, 0, &found));
    int of_twelve = 0, of_any = 0;
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) {
        const mst_state_info info = mst_snapshot_info(snapshot, i);
        of_twelve += mst_ps_progress_is_of(&info, 12);
        of_any += mst_ps_progress_is_of(&info, MST_PS_ANY);
    }
    assert_int_equal(of_twelve, 2);
    assert_int_equal(of_any, 4);
    mst_snapshot_release(snapshot);
    mst_store_release(all);
}

/* What is left of a larger cluster is older than what its servers were started again with. */
static void entries_of_tasks_that_are_gone_do_not_count(void **state) {
    (void)state;
    mst_store *chief, *server;
    mst_ps_progress found;
    EXPECT_OK(mst_store_create(&chief));
    EXPECT_OK(mst_store_create(&server));
    store(chief, 0, 3, 5);
    store(chief, 1, 3, 5);
    store(server, 0, 2, 8);
    mst_snapshot *sent = snapshot_of(server);
    EXPECT_OK(mst_ps_progress_forget_others(chief, sent));
    EXPECT_OK(mst_store_restore(chief, sent));
    mst_snapshot *joined = snapshot_of(chief);
    assert_true(mst_ps_progress_find(joined, 0, 1, &found));
    assert_int_equal(found.updates, 8);
    assert_false(mst_ps_progress_find(joined, 0, 2, &found));
    for (int w = 0; w < 3; w++) assert_false(mst_ps_progress_find(joined, 1, w, &found));
    assert_true(mst_ps_progress_find_any(joined, &found));
    assert_int_equal(found.updates, 8);
    mst_snapshot_release(joined);
    mst_snapshot_release(sent);
    mst_store_release(chief);
    mst_store_release(server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_server_has_the_position_of_each_worker),
        cmocka_unit_test(entries_of_tasks_that_are_gone_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
