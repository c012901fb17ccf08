/* The state of a task as bytes: decoding gives what was encoded, and wrong bytes are refused. */
#include "messages/state_message.h"
#include "muster/muster.h"
#include "support/test.h"

static void add(mst_snapshot *snapshot, const char *name, mst_state_kind kind, mst_dtype dtype, mst_shape shape) {
    mst_tensor *value = engine_tensor(dtype, shape, NULL);
    for (int64_t i = 0; i < mst_tensor_count(value); i++) mst_tensor_set(value, i, (double)(i * 3 % 7));
    EXPECT_OK(mst_snapshot_add(snapshot, "", name, kind, value));
    mst_tensor_release(value);
}

static mst_snapshot *make_state(void) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_snapshot_create(&snapshot));
    add(snapshot, "layer1/weights", MST_STATE_WEIGHT, MST_F32, MST_SHAPE(3, 5));
    add(snapshot, "empty", MST_STATE_WEIGHT, MST_F32, MST_SHAPE(0, 4));
    add(snapshot, "global_step", MST_STATE_STEP, MST_I64, MST_SCALAR);
    add(snapshot, "half", MST_STATE_SLOT, MST_BF16, MST_SHAPE(3));
    add(snapshot, "random/runs", MST_STATE_RANDOM, MST_I64, MST_SCALAR);
    EXPECT_OK(mst_snapshot_set_note(snapshot, "muster/classes", "cat\ndog"));
    return snapshot;
}

static void state_is_decoded_as_it_was(void **state) {
    (void)state;
    mst_snapshot *before = make_state(), *after;
    void *data;
    size_t bytes;
    EXPECT_OK(mst_state_message_encode(before, &data, &bytes));
    EXPECT_OK(mst_state_message_decode(data, bytes, &after));
    assert_int_equal(mst_snapshot_count(after), mst_snapshot_count(before));
    for (int64_t i = 0; i < mst_snapshot_count(before); i++) {
        const mst_state_info x = mst_snapshot_info(before, i), y = mst_snapshot_info(after, i);
        const mst_tensor *a = mst_snapshot_value(before, i), *b = mst_snapshot_value(after, i);
        assert_string_equal(x.name, y.name);
        assert_int_equal(x.kind, y.kind);
        assert_int_equal(x.spec.dtype, y.spec.dtype);
        assert_int_equal(mst_tensor_bytes(a), mst_tensor_bytes(b));
        assert_memory_equal(mst_tensor_data(a), mst_tensor_data(b), mst_tensor_bytes(a));
    }
    assert_string_equal(mst_snapshot_note(after, "muster/classes"), "cat\ndog");
    assert_true(mst_state_hash(before) == mst_state_hash(after));
    mst_snapshot_release(before);
    mst_snapshot_release(after);
    free(data);
}

static void hash_sees_every_value_but_the_count_of_runs(void **state) {
    (void)state;
    mst_snapshot *a = make_state(), *b = make_state();
    mst_tensor *runs = mst_snapshot_find(b, "", "random/runs"), *half = mst_snapshot_find(b, "", "half");
    mst_tensor_set(runs, 0, 17);
    assert_true(mst_state_hash(a) == mst_state_hash(b));
    mst_tensor_set(half, 1, 17);
    assert_true(mst_state_hash(a) != mst_state_hash(b));
    mst_snapshot_release(a);
    mst_snapshot_release(b);
}

static void no_part_and_no_change_of_the_bytes_leads_astray(void **state) {
    (void)state;
    mst_snapshot *snapshot = make_state(), *got;
    void *data;
    size_t bytes;
    EXPECT_OK(mst_state_message_encode(snapshot, &data, &bytes));
    for (size_t n = 0; n < bytes; n++) {
        void *part = malloc(n ? n : 1);
        assert_non_null(part);
        memcpy(part, data, n);
        EXPECT_ERROR(mst_state_message_decode(part, n, &got), MST_CORRUPT, "damaged");
        free(part);
    }
    for (size_t at = 0; at < bytes; at++) {
        static const unsigned char bits[] = {1, 0x80, 0xff};
        for (size_t k = 0; k < sizeof bits; k++) {
            ((unsigned char *)data)[at] ^= bits[k];
            if (!mst_state_message_decode(data, bytes, &got)) mst_snapshot_release(got);
            ((unsigned char *)data)[at] ^= bits[k];
        }
    }
    mst_snapshot_release(snapshot);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_is_decoded_as_it_was),
        cmocka_unit_test(hash_sees_every_value_but_the_count_of_runs),
        cmocka_unit_test(no_part_and_no_change_of_the_bytes_leads_astray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
