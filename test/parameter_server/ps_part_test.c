/* State of variables whose rows are divided among servers: each server gets its rows, and the parts that they send
 * back are joined again. */
#include "support/test.h"

#include "parameter_server/ps_part.h"

enum { ROWS = 5, COLUMNS = 2, SERVERS = 2 };

/* Variables "w", which is cut, and "w/x", which is not. */
static mst_ps_copies two_variables(mst_ps_copy copy[2]) {
    for (int v = 0; v < 2; v++)
        copy[v] = (mst_ps_copy){.name = (char *)(uintptr_t)(v ? "w/x" : "w"),
                                .value = engine_random(MST_F32, MST_SHAPE(ROWS, COLUMNS), 0, 1, (unsigned)v),
                                .ps = v ? 1 : MST_PS_EACH};
    return (mst_ps_copies){.copy = copy, .count = 2, .num_ps = SERVERS};
}

static void release(mst_ps_copies *all) {
    for (int v = 0; v < all->count; v++) mst_tensor_release(all->copy[v].value);
}

static void add(mst_snapshot *to, const char *name, mst_tensor *value) {
    EXPECT_OK(mst_snapshot_add(to, NULL, name, MST_STATE_SLOT, value));
}

static mst_shape shape_of(const mst_snapshot *state, const char *name) {
    mst_tensor *value = mst_snapshot_find(state, NULL, name);
    assert_non_null(value);
    return mst_tensor_shape(value);
}

static void large_variables_with_a_row_for_each_server_are_cut(void **state) {
    (void)state;
    const mst_spec spec = {MST_F32, MST_SHAPE(ROWS, COLUMNS)}, scalar = {MST_F32, MST_SCALAR};
    assert_true(mst_ps_is_cut(&spec, ROWS, 40));
    assert_false(mst_ps_is_cut(&spec, ROWS, 41));
    assert_false(mst_ps_is_cut(&spec, ROWS + 1, 40));
    assert_false(mst_ps_is_cut(&spec, 1, 40));
    assert_false(mst_ps_is_cut(&spec, ROWS, 0));
    assert_false(mst_ps_is_cut(&scalar, 2, 1));
}

static void state_is_cut_and_joined_again(void **state) {
    (void)state;
    mst_ps_copy copy[2];
    mst_ps_copies all = two_variables(copy);
    mst_snapshot *whole, *joined;
    mst_tensor *slot = engine_random(MST_F32, MST_SHAPE(ROWS, COLUMNS), 0, 1, 7);
    mst_tensor *step = engine_tensor(MST_I64, MST_SCALAR, NULL);
    EXPECT_OK(mst_snapshot_create(&whole));
    EXPECT_OK(mst_snapshot_create(&joined));
    add(whole, "w", copy[0].value);
    add(whole, "w/m", slot);
    add(whole, "w/x", copy[1].value);
    add(whole, "w/x/m", slot);
    add(whole, "global_step", step);
    for (int p = 0; p < SERVERS; p++) {
        mst_snapshot *sent;
        EXPECT_OK(mst_ps_cut_state(&all, p, whole, &sent));
        assert_int_equal(shape_of(sent, "w").dim[0], p ? 2 : 3);
        assert_int_equal(shape_of(sent, "w/m").dim[0], p ? 2 : 3);
        assert_int_equal(shape_of(sent, "w/x").dim[0], ROWS);
        assert_int_equal(shape_of(sent, "w/x/m").dim[0], ROWS);
        EXPECT_OK(mst_ps_join_state(&all, p, sent, joined));
        mst_snapshot_release(sent);
    }
    assert_int_equal(mst_snapshot_count(joined), mst_snapshot_count(whole));
    assert_true(engine_same_bits(mst_snapshot_find(joined, NULL, "w"), copy[0].value));
    assert_true(engine_same_bits(mst_snapshot_find(joined, NULL, "w/m"), slot));
    mst_snapshot_release(joined);
    mst_snapshot_release(whole);
    mst_tensor_release(slot);
    mst_tensor_release(step);
    release(&all);
}

static void part_of_another_shape_or_dtype_is_an_error(void **state) {
    (void)state;
    mst_ps_copy copy[2];
    mst_ps_copies all = two_variables(copy);
    const mst_spec wrong[] = {{MST_F32, MST_SHAPE(2, COLUMNS)}, {MST_F32, MST_SHAPE(3)}, {MST_F64, MST_SHAPE(3, 2)}};
    mst_snapshot *joined;
    mst_tensor *other = engine_tensor(MST_F32, MST_SHAPE(ROWS, COLUMNS), NULL);
    EXPECT_OK(mst_snapshot_create(&joined));
    add(joined, "w", other);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mst_tensor *value = engine_tensor(wrong[i].dtype, wrong[i].shape, NULL);
        mst_snapshot *sent;
        EXPECT_OK(mst_snapshot_create(&sent));
        add(sent, "w", value);
        EXPECT_ERROR(mst_ps_join_state(&all, 0, sent, joined), MST_INVALID,
                     "ps:0 has sent data that is not its part of 'w'");
        mst_snapshot_release(sent);
        mst_tensor_release(value);
    }
    mst_tensor_release(other);
    mst_snapshot_release(joined);
    release(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_variables_with_a_row_for_each_server_are_cut),
        cmocka_unit_test(state_is_cut_and_joined_again),
        cmocka_unit_test(part_of_another_shape_or_dtype_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
