/* Values at addresses that are only names (device/named_memory.h). */
#include "device/named_memory.h"

#include "support/test.h"

enum { BYTES = 4096 };

static int released[8]; /* by value: how often it was taken away */

static void count_release(void *value) {
    ++*(int *)value;
}

static void put_and_expect(mst_named_memory *memory, char *data, int first, int bytes, int value) {
    assert_true(mst_named_memory_put(memory, data + first, (size_t)bytes, &released[value]));
    assert_ptr_equal(mst_named_memory_at(memory, data + first), &released[value]);
}

static void value_is_found_by_its_first_address_alone(void **state) {
    (void)state;
    mst_named_memory memory = {.release = count_release};
    void *data;
    assert_true(mst_named_memory_reserve(BYTES, &data));
    assert_null(mst_named_memory_at(&memory, data));
    put_and_expect(&memory, data, 64, 64, 0);
    assert_null(mst_named_memory_at(&memory, data));
    assert_null(mst_named_memory_at(&memory, (char *)data + 65));
    assert_null(mst_named_memory_at(&memory, (char *)data + 128));
    mst_named_memory_free(&memory, data, BYTES);
    assert_int_equal(released[0], 1);
    assert_int_equal(memory.count, 0);
    free(memory.value);
}

static void value_takes_away_all_that_lie_in_its_bytes(void **state) {
    (void)state;
    static const int expected[] = {0, 1, 1, 1, 0};
    mst_named_memory memory = {.release = count_release};
    void *data;
    memset(released, 0, sizeof released);
    assert_true(mst_named_memory_reserve(BYTES, &data));
    for (int i = 4; i >= 0; i--) put_and_expect(&memory, data, 64 * i, i == 3 ? 0 : 64, i); /* an empty one too */
    put_and_expect(&memory, data, 127, 66, 5); /* the last byte of one, all of another, and the first of a third */
    for (int i = 0; i < 5; i++) assert_int_equal(released[i], expected[i]);
    assert_int_equal(memory.count, 3);
    put_and_expect(&memory, data, 127, 66, 6); /* in its place */
    assert_int_equal(released[5], 1);
    assert_int_equal(memory.count, 3);
    mst_named_memory_free(&memory, data, BYTES);
    for (int i = 0; i < 7; i++) assert_int_equal(released[i], 1);
    free(memory.value);
}

static void many_values_are_found_again(void **state) {
    (void)state;
    enum { MANY = 1000, STEP = 7 };
    static int values[MANY];
    mst_named_memory memory = {.release = count_release};
    void *data;
    assert_true(mst_named_memory_reserve(MANY, &data));
    for (int i = 0; i < MANY; i++) {
        const int at = i * STEP % MANY;
        assert_true(mst_named_memory_put(&memory, (char *)data + at, 1, &values[at]));
    }
    assert_int_equal(memory.count, MANY);
    for (int i = 0; i < MANY; i++) assert_ptr_equal(mst_named_memory_at(&memory, (char *)data + i), &values[i]);
    mst_named_memory_free(&memory, data, MANY);
    for (int i = 0; i < MANY; i++) assert_int_equal(values[i], 1);
    free(memory.value);
}

static void sizes_that_no_memory_has_are_refused(void **state) {
    (void)state;
    static const size_t sizes[] = {(size_t)PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - BYTES, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *data = &data;
        assert_false(mst_named_memory_reserve(sizes[i], &data));
        assert_null(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_found_by_its_first_address_alone),
        cmocka_unit_test(value_takes_away_all_that_lie_in_its_bytes),
        cmocka_unit_test(many_values_are_found_again),
        cmocka_unit_test(sizes_that_no_memory_has_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
