/* Blocks that are in use at the same time do not overlap, and together need little more memory than they must. */
#include "support/test.h"

#include "plan/blocks.h"

static bool lives_meet(const mst_plan_block *a, const mst_plan_block *b) {
    return a->begin <= b->end && b->begin <= a->end;
}

static void expect_apart(const mst_plan_block *blocks, int64_t count, int64_t bytes) {
    for (int64_t i = 0; i < count; i++) {
        const mst_plan_block *a = &blocks[i];
        assert_true(a->offset >= 0 && a->offset + a->bytes <= bytes);
        for (int64_t k = 0; k < i; k++) {
            const mst_plan_block *b = &blocks[k];
            if (lives_meet(a, b) && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
                fail_msg("blocks %d and %d meet", (int)i, (int)k);
        }
    }
}

/* The most that is in use at one place: nothing can need less. */
static int64_t most_at_once(const mst_plan_block *blocks, int64_t count) {
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < count; k++)
            if (blocks[k].begin <= blocks[i].begin && blocks[i].begin <= blocks[k].end) sum += blocks[k].bytes;
        if (sum > most) most = sum;
    }
    return most;
}

static void random_blocks_lie_apart_and_close(void **state) {
    (void)state;
    enum { MOST = 1200, ROUNDS = 60 };
    static mst_plan_block blocks[MOST];
    uint64_t seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t count = round < 4 ? round : round == ROUNDS - 1 ? MOST : 20 + round * 5;
        for (int64_t i = 0; i < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const int32_t begin = (int32_t)(seed >> 40) % (int32_t)(count + 1), length = (int32_t)(seed >> 20 & 31);
            blocks[i] = (mst_plan_block){.bytes = (int64_t)64 << (seed >> 60), .begin = begin, .end = begin + length};
            if (i % 50 == 49) blocks[i].end = INT32_MAX;
        }
        int64_t bytes = -1;
        EXPECT_OK(mst_plan_place_blocks(blocks, count, &bytes));
        expect_apart(blocks, count, bytes);
        const int64_t least = most_at_once(blocks, count);
        if (bytes * 10 > least * 13) fail_msg("round %d: %d bytes, at once %d", round, (int)bytes, (int)least);
    }
}

/* Small blocks that stay between large ones that go: in order, the holes are too small for what comes next. */
static void large_blocks_do_not_fall_between_small_ones(void **state) {
    (void)state;
    enum { PAIRS = 20 };
    mst_plan_block blocks[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        blocks[2 * i] = (mst_plan_block){.bytes = 1000000 + 64 * i, .begin = 2 * i, .end = 2 * i + 2};
        blocks[2 * i + 1] = (mst_plan_block){.bytes = 64, .begin = 2 * i + 1, .end = INT32_MAX};
    }
    int64_t bytes;
    EXPECT_OK(mst_plan_place_blocks(blocks, 2 * PAIRS, &bytes));
    expect_apart(blocks, 2 * PAIRS, bytes);
    assert_true(bytes < 2100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks_lie_apart_and_close),
        cmocka_unit_test(large_blocks_do_not_fall_between_small_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
