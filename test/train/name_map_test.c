/* Restoring a file whose variables have other names than the model's. */
#include "muster/muster.h"
#include "support/folder.h"
#include "support/test.h"

static void add(mst_snapshot *snapshot, const char *name, mst_state_kind kind, double value) {
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(1), &value);
    EXPECT_OK(mst_snapshot_add(snapshot, NULL, name, kind, tensor));
    mst_tensor_release(tensor);
}

/* theirs/kernel 1, its slot m 2 and its average 3; here/b 4; here/a 5 */
static const char *write_theirs(void) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_snapshot_create(&snapshot));
    add(snapshot, "theirs/kernel", MST_STATE_WEIGHT, 1);
    add(snapshot, "theirs/kernel/m", MST_STATE_SLOT, 2);
    add(snapshot, "theirs/kernel/ExponentialMovingAverage", MST_STATE_AVERAGE, 3);
    add(snapshot, "here/b", MST_STATE_WEIGHT, 4);
    add(snapshot, "here/a", MST_STATE_WEIGHT, 5);
    EXPECT_OK(mst_checkpoint_write(folder_path("theirs.npz"), snapshot, NULL));
    mst_snapshot_release(snapshot);
    return folder_path("theirs.npz");
}

static void set(mst_store *store, const char *name, mst_state_kind kind) {
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(1), (double[]){0});
    EXPECT_OK(mst_store_set(store, NULL, name, kind, tensor));
    mst_tensor_release(tensor);
}

/* here/a with its slot and average, and here/b */
static mst_store *new_store(void) {
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    set(store, "here/a", MST_STATE_WEIGHT);
    set(store, "here/a/m", MST_STATE_SLOT);
    set(store, "here/a/ExponentialMovingAverage", MST_STATE_AVERAGE);
    set(store, "here/b", MST_STATE_WEIGHT);
    return store;
}

static void expect(mst_store *store, const char *name, double want) {
    mst_tensor *value;
    EXPECT_OK(mst_store_get(store, NULL, name, &value));
    assert_true(mst_tensor_get(value, 0) == want);
    mst_tensor_release(value);
}

static void slots_and_averages_follow_their_variable(void **state) {
    (void)state;
    static const mst_checkpoint_name names[] = {{"here/a", "theirs/kernel"}};
    mst_store *store = new_store();
    mst_restored restored;
    const mst_restore_options options = {.names = names, .num_names = 1};
    EXPECT_OK(mst_checkpoint_restore(write_theirs(), store, &options, &restored));
    expect(store, "here/a", 1);
    expect(store, "here/a/m", 2);
    expect(store, "here/a/ExponentialMovingAverage", 3);
    expect(store, "here/b", 4);
    assert_string_equal(restored.missing, "");
    assert_string_equal(restored.left_over, "here/a"); /* of the file, for which the map has another */
    mst_restored_free(&restored);
    mst_store_release(store);
}

static void longest_name_of_a_map_counts(void **state) {
    (void)state;
    static const mst_checkpoint_name names[] = {{"here/a", "theirs/kernel"}, {"here", "theirs"}, {"here/b", "here/b"}};
    mst_store *store = new_store();
    const mst_restore_options options = {.names = names, .num_names = 3, .kinds = 1u << MST_STATE_WEIGHT};
    EXPECT_OK(mst_checkpoint_restore(write_theirs(), store, &options, NULL));
    expect(store, "here/a", 1);
    expect(store, "here/b", 4);
    mst_store_release(store);
}

static void empty_store_gets_the_names_of_the_model(void **state) {
    (void)state;
    static const mst_checkpoint_name names[] = {{"net", "theirs"}, {"net/bias", "here/b"}};
    mst_store *store;
    const mst_restore_options options = {.names = names, .num_names = 2};
    EXPECT_OK(mst_store_create(&store));
    EXPECT_OK(mst_checkpoint_restore(write_theirs(), store, &options, NULL));
    expect(store, "net/kernel", 1);
    expect(store, "net/kernel/m", 2);
    expect(store, "net/bias", 4);
    expect(store, "here/a", 5);
    mst_store_release(store);
}

static void all_that_is_missing_and_left_over_is_in_one_message(void **state) {
    (void)state;
    static const mst_checkpoint_name names[] = {{"here/a", "other/x"}, {"here/b", "other/y"}};
    mst_store *store = new_store();
    const mst_restore_options options = {.names = names, .num_names = 2, .kinds = 1u << MST_STATE_WEIGHT};
    EXPECT_ERROR(mst_checkpoint_restore(write_theirs(), store, &options, NULL), MST_NOT_FOUND,
                 "has no 'other/x' for 'here/a', 'other/y' for 'here/b'; left over is 'here/a' [1], 'here/b' [1], "
                 "'theirs/kernel' [1]: it is a checkpoint of another model, or names differ");
    expect(store, "here/a", 0);
    const mst_checkpoint_name wrong[] = {{"here/c", "theirs/kernel"}}, empty[] = {{"here/a", ""}};
    const mst_restore_options of_wrong = {.names = wrong, .num_names = 1}, of_empty = {.names = empty, .num_names = 1};
    EXPECT_ERROR(mst_checkpoint_restore(write_theirs(), store, &of_wrong, NULL), MST_INVALID, "has no such weight");
    EXPECT_ERROR(mst_checkpoint_restore(write_theirs(), store, &of_empty, NULL), MST_INVALID, "is empty");
    mst_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(slots_and_averages_follow_their_variable),
        TEST_IN_FOLDER(longest_name_of_a_map_counts),
        TEST_IN_FOLDER(empty_store_gets_the_names_of_the_model),
        TEST_IN_FOLDER(all_that_is_missing_and_left_over_is_in_one_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
