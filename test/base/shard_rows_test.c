/* Which rows of a batch each shard and each task has. */
#include "base/shard_rows.h"
#include "support/test.h"

static void the_first_shards_have_one_row_more(void **state) {
    (void)state;
    const int64_t count[] = {3, 3, 2, 2}; /* of 10 rows */
    int64_t first = 0;
    for (int s = 0; s < 4; s++) {
        const mst_row_range rows = mst_shard_window_rows((mst_shard_window){{s, 1}, 4}, 10);
        assert_int_equal(rows.first, first);
        assert_int_equal(rows.count, count[s]);
        first += count[s];
    }
}

static void a_window_has_the_rows_of_its_shards_one_after_the_other(void **state) {
    (void)state;
    for (int32_t shards = 1; shards < 8; shards++)
        for (int64_t size = 0; size < 20; size++)
            for (int32_t begin = 0; begin < shards; begin++) {
                int64_t end = mst_shard_window_rows((mst_shard_window){{begin, 1}, shards}, size).first;
                for (int32_t n = 1; begin + n <= shards; n++) {
                    const mst_row_range last =
                        mst_shard_window_rows((mst_shard_window){{begin + n - 1, 1}, shards}, size);
                    const mst_row_range all = mst_shard_window_rows((mst_shard_window){{begin, n}, shards}, size);
                    assert_int_equal(last.first, end);
                    end += last.count;
                    assert_int_equal(all.first + all.count, end);
                }
                assert_true(begin > 0 || end == size);
            }
}

static void without_shards_all_rows_are_those_of_the_task(void **state) {
    (void)state;
    const mst_row_range rows = mst_shard_window_rows((mst_shard_window){0}, 7);
    assert_int_equal(rows.first, 0);
    assert_int_equal(rows.count, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_shards_have_one_row_more),
        cmocka_unit_test(a_window_has_the_rows_of_its_shards_one_after_the_other),
        cmocka_unit_test(without_shards_all_rows_are_those_of_the_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
