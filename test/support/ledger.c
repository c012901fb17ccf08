#include "support/ledger.h"

#include <stdlib.h>

#include "support/test.h"

enum { MOST = 4096 };

static int64_t read_rows(const ledger *l, mst_iterator *it, int64_t stop, int64_t *rows) {
    const int64_t count = l->read(it, stop, rows, MOST);
    if (count < 0) fail_msg("%s", mst_error()->message);
    for (int64_t i = 0; i < count; i++) assert_in_range(rows[i], 0, l->num_rows - 1);
    return count;
}

/* Goes on in a new pipeline, as another process would. */
static void restart(const ledger *l, int64_t shard, mst_dataset **dataset, mst_iterator **it) {
    mst_tensor *position;
    EXPECT_OK(mst_iterator_save(*it, &position));
    mst_iterator_destroy(*it);
    mst_dataset_release(*dataset);
    if (l->interrupt) l->interrupt(l->context);
    *dataset = l->build(l->context, shard);
    EXPECT_OK(mst_iterator_restore(*dataset, position, it));
    mst_tensor_release(position);
}

static void count_rows(const ledger *l, int64_t shard, int64_t *seen) {
    int64_t rows[MOST], count, stop = 1;
    mst_dataset *dataset = l->build(l->context, shard);
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    while ((count = read_rows(l, it, stop, rows)) > 0) {
        for (int64_t i = 0; i < count; i++) seen[rows[i]]++;
        restart(l, shard, &dataset, &it);
        stop = (stop * 7 + 3) % 11 + 1;
    }
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
}

void ledger_expect_each_row_once(const ledger *l) {
    int64_t *seen = calloc((size_t)l->num_rows, sizeof *seen);
    for (int64_t shard = 0; shard < l->num_shards; shard++) count_rows(l, shard, seen);
    for (int64_t i = 0; i < l->num_rows; i++)
        if (seen[i] != l->num_epochs)
            fail_msg("row %d came %d times, not %d", (int)i, (int)seen[i], (int)l->num_epochs);
    free(seen);
}

void ledger_expect_same_after_restore(const ledger *l) {
    int64_t all[MOST], rest[MOST], before = 0;
    mst_dataset *dataset = l->build(l->context, 0);
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create(dataset, 1, &it));
    const int64_t total = read_rows(l, it, INT64_MAX, all);
    mst_iterator_destroy(it);
    for (int64_t stop = 0; before < total; stop++) {
        EXPECT_OK(mst_iterator_create(dataset, 1, &it));
        before = read_rows(l, it, stop, rest);
        restart(l, 0, &dataset, &it);
        assert_int_equal(before + read_rows(l, it, INT64_MAX, rest), total);
        assert_memory_equal(rest, all + before, (size_t)(total - before) * sizeof *rest);
        mst_iterator_destroy(it);
        EXPECT_OK(mst_iterator_create(dataset, 1, &it));
        EXPECT_OK(mst_iterator_skip(it, stop));
        assert_int_equal(before + read_rows(l, it, INT64_MAX, rest), total);
        assert_memory_equal(rest, all + before, (size_t)(total - before) * sizeof *rest);
        mst_iterator_destroy(it);
    }
    mst_dataset_release(dataset);
}

static void try_position(const ledger *l, mst_dataset *dataset, const mst_tensor *position) {
    int64_t rows[MOST];
    mst_iterator *it;
    if (mst_iterator_restore(dataset, position, &it) == MST_OK)
        for (int i = 0; i < 5; i++) (void)!l->read(it, 1, rows, MOST); /* also after an error */
    mst_iterator_destroy(it);
}

void ledger_expect_no_harm_by_positions(const ledger *l) {
    static const int64_t values[] = {-1, 0, 1, 5, 1000, INT64_MAX, INT64_MIN};
    enum { HEAD = 3 }; /* numbers that say whose position it is */
    int64_t rows[MOST];
    mst_dataset *dataset = l->build(l->context, 0);
    mst_iterator *it;
    mst_tensor *position;
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    assert_true(read_rows(l, it, 3, rows) > 0);
    EXPECT_OK(mst_iterator_save(it, &position));
    for (int64_t n = HEAD; n < mst_tensor_count(position); n++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            int64_t *number = (int64_t *)mst_tensor_data(position) + n, before = *number;
            *number = values[v];
            try_position(l, dataset, position);
            *number = before;
        }
    mst_tensor_release(position);
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
}
