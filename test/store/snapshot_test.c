/* Snapshots of a store: entries put in by hand, values of one moment while threads write, and what restoring sets,
 * raises and leaves alone. */
#include <pthread.h>

#include "store/store.h"
#include "support/test.h"

static mst_store *new_store(void) {
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    return store;
}

static mst_tensor *number(double value) {
    return engine_tensor(MST_F64, MST_SCALAR, &value);
}

static void set(mst_store *store, const char *name, mst_state_kind kind, double value) {
    mst_tensor *tensor = number(value);
    EXPECT_OK(mst_store_set(store, "", name, kind, tensor));
    mst_tensor_release(tensor);
}

static double get(mst_store *store, const char *name) {
    mst_tensor *tensor;
    EXPECT_OK(mst_store_get(store, "", name, &tensor));
    const double value = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return value;
}

static mst_snapshot *snapshot_of(mst_store *store) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_store_snapshot(store, &snapshot));
    return snapshot;
}

static void add(mst_snapshot *snapshot, const char *container, const char *name, mst_state_kind kind,
                mst_tensor *value) {
    EXPECT_OK(mst_snapshot_add(snapshot, container, name, kind, value));
    mst_tensor_release(value);
}

static int64_t count_entries(mst_store *store) {
    mst_state_info *list;
    int64_t count;
    EXPECT_OK(mst_store_list(store, &list, &count));
    free(list);
    return count;
}

/* ---- made by hand ---- */

static void entries_are_found_and_are_in_order_however_they_were_added(void **state) {
    (void)state;
    enum { COUNT = 200 };
    mst_snapshot *snapshot;
    char name[32];
    EXPECT_OK(mst_snapshot_create(&snapshot));
    assert_int_equal(mst_snapshot_count(snapshot), 0);
    assert_null(mst_snapshot_find(snapshot, NULL, "w0"));
    for (int i = 0; i < COUNT; i++) {
        const int k = i * 77 % COUNT;
        snprintf(name, sizeof name, "w%d", k);
        add(snapshot, k % 3 ? "container" : NULL, name, k % 2 ? MST_STATE_SLOT : MST_STATE_WEIGHT, number(k));
    }
    assert_int_equal(mst_snapshot_count(snapshot), COUNT);
    for (int k = 0; k < COUNT; k++) {
        snprintf(name, sizeof name, "w%d", k);
        mst_tensor *found = mst_snapshot_find(snapshot, k % 3 ? "container" : "", name);
        assert_non_null(found);
        assert_true(mst_tensor_get(found, 0) == k);
        assert_null(mst_snapshot_find(snapshot, k % 3 ? NULL : "container", name));
    }
    for (int64_t i = 0; i < COUNT; i++) {
        const mst_state_info info = mst_snapshot_info(snapshot, i);
        assert_true(mst_snapshot_value(snapshot, i) == mst_snapshot_find(snapshot, info.container, info.name));
        const int k = atoi(info.name + 1);
        assert_int_equal(info.kind, k % 2 ? MST_STATE_SLOT : MST_STATE_WEIGHT);
        assert_true(info.spec.dtype == MST_F64 && info.spec.shape.ndim == 0 && info.bytes == 8);
        if (i == 0) continue;
        const mst_state_info before = mst_snapshot_info(snapshot, i - 1);
        const int order = strcmp(before.container, info.container);
        assert_true(order < 0 || (order == 0 && strcmp(before.name, info.name) < 0));
    }
    mst_snapshot_release(snapshot);
}

static void entry_of_a_name_that_is_taken_is_refused(void **state) {
    (void)state;
    mst_snapshot *snapshot;
    EXPECT_OK(mst_snapshot_create(&snapshot));
    add(snapshot, "", "w", MST_STATE_WEIGHT, number(1));
    mst_tensor *second = number(2);
    EXPECT_ERROR(mst_snapshot_add(snapshot, NULL, "w", MST_STATE_WEIGHT, second), MST_EXISTS, "a 'w' already");
    EXPECT_OK(mst_snapshot_add(snapshot, "other", "w", MST_STATE_WEIGHT, second));
    mst_tensor_release(second);
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "w"), 0) == 1);
    assert_int_equal(mst_snapshot_count(snapshot), 2);
    mst_snapshot_release(snapshot);
}

/* ---- of a store ---- */

static void snapshot_keeps_the_values_of_its_moment(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "w", MST_STATE_WEIGHT, 1);
    set(store, "m", MST_STATE_SLOT, 2);
    set(store, "gone", MST_STATE_RATE, 3);
    EXPECT_OK(mst_store_clear(store, 1u << MST_STATE_RATE));
    mst_snapshot *snapshot = snapshot_of(store);
    set(store, "w", MST_STATE_WEIGHT, 10);
    set(store, "late", MST_STATE_WEIGHT, 20);
    assert_int_equal(mst_snapshot_count(snapshot), 3); /* what has no value is not in it; the number of runs is */
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "w"), 0) == 1);
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "m"), 0) == 2);
    assert_null(mst_snapshot_find(snapshot, "", "gone"));
    assert_null(mst_snapshot_find(snapshot, "", "late"));
    mst_store_release(store); /* a snapshot needs no store */
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "w"), 0) == 1);
    mst_snapshot_release(mst_snapshot_retain(snapshot));
    mst_snapshot_release(snapshot);
    mst_snapshot_release(NULL);
}

static void restoring_sets_what_the_snapshot_has_and_leaves_the_rest(void **state) {
    (void)state;
    mst_store *store = new_store(), *fewer = new_store(), *more = new_store();
    set(store, "w", MST_STATE_WEIGHT, 1);
    set(store, "w/m", MST_STATE_SLOT, 2);
    set(more, "w", MST_STATE_WEIGHT, -1);
    set(more, "w/m", MST_STATE_SLOT, -2);
    set(more, "extra", MST_STATE_WEIGHT, -3);
    mst_snapshot *snapshot = snapshot_of(store);
    set(store, "w", MST_STATE_WEIGHT, 5);
    mst_store *const stores[] = {store, fewer, more};
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(mst_store_restore(stores[i], snapshot));
        assert_true(get(stores[i], "w") == 1 && get(stores[i], "w/m") == 2);
    }
    assert_true(get(more, "extra") == -3);
    assert_int_equal(count_entries(more), 4);
    assert_int_equal(count_entries(fewer), 3);
    mst_snapshot *again = snapshot_of(fewer);
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) {
        const mst_state_info a = mst_snapshot_info(snapshot, i), b = mst_snapshot_info(again, i);
        assert_string_equal(a.name, b.name);
        assert_int_equal(a.kind, b.kind);
        assert_true(engine_same_bits(mst_snapshot_value(snapshot, i), mst_snapshot_value(again, i)));
    }
    mst_snapshot_release(snapshot);
    mst_snapshot_release(again);
    for (int i = 0; i < 3; i++) mst_store_release(stores[i]);
}

static void restoring_raises_versions(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "w", MST_STATE_WEIGHT, 1);
    mst_snapshot *snapshot = snapshot_of(store), *later;
    EXPECT_OK(mst_store_restore(store, snapshot));
    later = snapshot_of(store);
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++)
        if (strcmp(mst_snapshot_info(snapshot, i).name, "w") == 0)
            assert_true(mst_snapshot_info(later, i).version > mst_snapshot_info(snapshot, i).version);
    mst_snapshot_release(snapshot);
    mst_snapshot_release(later);
    mst_store_release(store);
}

static void snapshot_that_does_not_fit_changes_nothing(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "b", MST_STATE_WEIGHT, 1);
    set(store, "z", MST_STATE_WEIGHT, 2);
    mst_snapshot *snapshot;
    EXPECT_OK(mst_snapshot_create(&snapshot));
    add(snapshot, "", "a", MST_STATE_WEIGHT, number(7)); /* would be new, and comes first */
    add(snapshot, "", "b", MST_STATE_WEIGHT, number(8));
    add(snapshot, "", "z", MST_STATE_WEIGHT, engine_tensor(MST_F64, MST_SHAPE(2), NULL));
    EXPECT_ERROR(mst_store_restore(store, snapshot), MST_INVALID, "'z' is f64[] there, and is wanted as f64[2]");
    assert_true(get(store, "b") == 1 && get(store, "z") == 2);
    assert_int_equal(count_entries(store), 3); /* "a" was not made */
    mst_snapshot_release(snapshot);
    mst_store_release(store);
}

/* ---- by several threads ---- */

enum { ROUNDS = 300, ENTRIES = 5 };

typedef struct client {
    mst_store *store;
    const mst_snapshot *low, *high;
    int torn;
} client;

static void *write_all(void *context) {
    client *c = context;
    for (int i = 0; i < ROUNDS; i++)
        if (mst_store_restore(c->store, i % 2 ? c->low : c->high)) c->torn++;
    return NULL;
}

static void *read_all(void *context) {
    client *c = context;
    for (int i = 0; i < ROUNDS; i++) {
        mst_snapshot *snapshot;
        if (mst_store_snapshot(c->store, &snapshot)) return c;
        const double first = mst_tensor_get(mst_snapshot_find(snapshot, "", "w0"), 0);
        for (int k = 1; k < ENTRIES; k++) {
            const char name[] = {'w', (char)('0' + k), '\0'};
            c->torn += mst_tensor_get(mst_snapshot_find(snapshot, "", name), 999) != first;
        }
        mst_snapshot_release(snapshot);
    }
    return NULL;
}

static mst_snapshot *all_of(double value) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_snapshot_create(&snapshot));
    for (int k = ENTRIES - 1; k >= 0; k--) {
        const char name[] = {'w', (char)('0' + k), '\0'};
        mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(1000), NULL);
        for (int i = 0; i < 1000; i++) mst_tensor_set(tensor, i, value);
        add(snapshot, "", name, MST_STATE_WEIGHT, tensor);
    }
    return snapshot;
}

static void snapshots_and_restores_of_several_threads_are_whole(void **state) {
    (void)state;
    mst_store *store = new_store();
    mst_snapshot *low = all_of(1), *high = all_of(2);
    EXPECT_OK(mst_store_restore(store, low));
    client clients[4];
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        clients[i] = (client){.store = store, .low = low, .high = high};
        assert_int_equal(pthread_create(&thread[i], NULL, i % 2 ? read_all : write_all, &clients[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(clients[i].torn, 0);
    }
    mst_snapshot_release(low);
    mst_snapshot_release(high);
    mst_store_release(store);
}

static void snapshot_taken_again_has_the_new_values_in_the_old_memory(void **state) {
    (void)state;
    mst_store *store = new_store();
    mst_snapshot *snapshot = NULL;
    set(store, "a", MST_STATE_WEIGHT, 1);
    EXPECT_OK(mst_store_snapshot_again(store, &snapshot));
    const void *memory = mst_tensor_data(mst_snapshot_find(snapshot, NULL, "a"));
    set(store, "a", MST_STATE_WEIGHT, 2);
    set(store, "b", MST_STATE_WEIGHT, 3);
    EXPECT_OK(mst_store_snapshot_again(store, &snapshot));
    assert_ptr_equal(mst_tensor_data(mst_snapshot_find(snapshot, NULL, "a")), memory);
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, NULL, "a"), 0) == 2);
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, NULL, "b"), 0) == 3);
    mst_snapshot *kept = mst_snapshot_retain(snapshot); /* whose values stay */
    set(store, "a", MST_STATE_WEIGHT, 4);
    EXPECT_OK(mst_store_snapshot_again(store, &snapshot));
    assert_true(mst_tensor_get(mst_snapshot_find(kept, NULL, "a"), 0) == 2);
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, NULL, "a"), 0) == 4);
    mst_snapshot_release(kept);
    mst_snapshot_release(snapshot);
    mst_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_found_and_are_in_order_however_they_were_added),
        cmocka_unit_test(entry_of_a_name_that_is_taken_is_refused),
        cmocka_unit_test(snapshot_keeps_the_values_of_its_moment),
        cmocka_unit_test(snapshot_taken_again_has_the_new_values_in_the_old_memory),
        cmocka_unit_test(restoring_sets_what_the_snapshot_has_and_leaves_the_rest),
        cmocka_unit_test(restoring_raises_versions),
        cmocka_unit_test(snapshot_that_does_not_fit_changes_nothing),
        cmocka_unit_test(snapshots_and_restores_of_several_threads_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
