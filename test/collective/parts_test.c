/* Exchanges in two halves. In a scatter each member gets the sum of its part. In a gather all members, or one alone,
 * get what the members have made of their parts. */
#include "collective/collectives.h"
#include "support/members.h"
#include "support/test.h"

enum { VALUES = 4, RUNS = 3 };
static const mst_exchange_value value[VALUES] = {{MST_I64, 3000}, {MST_I64, 17}, {MST_I64, 0}, {MST_I64, 9000}};

/* Cuts the values, one after the other, into parts at random; some are empty. */
static void cut(int32_t members, unsigned seed, int64_t *begin) {
    uint64_t state = seed;
    int64_t total = 0, at = 0, place[MOST_TASKS + 1] = {0};
    for (int v = 0; v < VALUES; v++) total += value[v].count;
    for (int32_t m = 1; m <= members; m++) {
        place[m] = m == members ? total : place[m - 1] + (int64_t)(next_random(&state) % (uint64_t)(total / members));
        if (m < members && next_random(&state) % 4 == 0) place[m] = place[m - 1];
    }
    for (int v = 0; v < VALUES; at += value[v++].count)
        for (int32_t m = 0; m <= members; m++) {
            const int64_t in = place[m] - at;
            begin[v * (members + 1) + m] = in < 0 ? 0 : in > value[v].count ? value[v].count : in;
        }
}

/* What a shard has of an element. */
static int64_t term(int32_t shard, int v, int64_t k, uint64_t run) {
    return (int64_t)run * 1000003 + shard * 7919 + v * 101 + k;
}

static int64_t sum_of(mst_shards shards, int v, int64_t k, uint64_t run) {
    int64_t sum = 0;
    for (int32_t s = shards.first; s < shards.first + shards.count; s++) sum += term(s, v, k, run);
    return sum;
}

static void scatter(member *m, mst_exchange *x, const int64_t *begin, uint64_t run) {
    const int32_t members = m->all->count;
    mst_shards node[2 * MST_SHARD_LEVELS];
    const int32_t leaves = mst_group_leaves(m->group, m->self, node);
    for (int v = 0; v < VALUES; v++)
        for (int32_t n = 0; n < leaves; n++)
            for (int64_t k = 0; k < value[v].count; k++)
                ((int64_t *)mst_exchange_leaf(x, n, v))[k] = sum_of(node[n], v, k, run);
    mst_exchange_start(x, run);
    EXPECT_OK(mst_exchange_wait(x, member_deadline()));
    for (int v = 0; v < VALUES; v++) {
        const int64_t *own = begin + v * (members + 1) + m->self, *sum = mst_exchange_sum(x, v);
        for (int64_t k = own[0]; k < own[1]; k++)
            assert_int_equal(sum[k - own[0]], sum_of((mst_shards){0, m->all->num_shards}, v, k, run));
    }
}

/* Each member gives numbers of its own. */
static void gather(member *m, mst_exchange *x, const int64_t *begin, uint64_t run) {
    const int32_t members = m->all->count;
    for (int v = 0; v < VALUES; v++) {
        const int64_t *own = begin + v * (members + 1) + m->self;
        for (int64_t k = own[0]; k < own[1]; k++)
            ((int64_t *)mst_exchange_leaf(x, 0, v))[k - own[0]] = term(m->self, v, k, run);
    }
    mst_exchange_start(x, run);
    EXPECT_OK(mst_exchange_wait(x, member_deadline()));
    for (int v = 0; v < VALUES; v++)
        for (int32_t from = 0; from < members; from++)
            for (int64_t k = begin[v * (members + 1) + from]; k < begin[v * (members + 1) + from + 1]; k++)
                assert_int_equal(((int64_t *)mst_exchange_sum(x, v))[k], term(from, v, k, run));
}

static void run_parts(member *m) {
    const int64_t *begin = m->context;
    mst_exchange *x[2];
    for (int i = 0; i < 2; i++)
        EXPECT_OK(mst_exchange_create(m->group,
                                      &(mst_exchange_spec){.kind = i ? MST_EXCHANGE_GATHER : MST_EXCHANGE_SCATTER,
                                                           .stream = (uint32_t)i,
                                                           .num_values = VALUES,
                                                           .value = value,
                                                           .begin = begin},
                                      &x[i]));
    for (int k = 0; k < RUNS; k++) {
        const uint64_t run = mst_group_next_run(m->group);
        scatter(m, x[0], begin, run);
        gather(m, x[1], begin, run);
    }
    for (int i = 0; i < 2; i++) mst_exchange_destroy(x[i]);
}

static void every_member_gets_its_part_and_then_all(void **state) {
    (void)state;
    for (int32_t count = 2; count <= 11; count += count < 5 ? 1 : 3)
        for (unsigned seed = 0; seed < 4; seed++) {
            members all;
            int64_t begin[VALUES * (MOST_TASKS + 1)];
            cut(count, seed + 1, begin);
            members_open(&all, count, count + (int32_t)seed * 3, seed);
            for (int32_t i = 0; i < count; i++) all.member[i].context = begin;
            members_run(&all, run_parts);
            members_close(&all);
        }
}

static void gather_to_one(member *m) {
    const int32_t members = m->all->count;
    size_t bytes[MOST_TASKS], at = 0;
    char data[MOST_TASKS * MOST_TASKS] = "";
    for (int32_t root = 0; root < members; root++) {
        const bool is_root = m->self == root;
        at = 0;
        for (int32_t i = 0; i < members; at += bytes[i++]) {
            bytes[i] = (size_t)i;
            if (i == m->self) memset(data + (is_root ? at : 0), 'a' + i, (size_t)i);
        }
        EXPECT_OK(mst_group_gather(m->group, root, bytes, data, member_deadline()));
        at = 0;
        for (int32_t i = 0; i < members && is_root; at += bytes[i++])
            for (size_t k = 0; k < bytes[i]; k++) assert_int_equal(data[at + k], 'a' + i);
    }
    EXPECT_ERROR(mst_group_gather(m->group, members, bytes, data, member_deadline()), MST_INVALID,
                 "a gather to member");
}

static void one_member_gets_the_parts_of_all(void **state) {
    (void)state;
    for (int32_t count = 2; count <= 5; count += 3) {
        members all;
        members_open(&all, count, count, 0);
        members_run(&all, gather_to_one);
        members_close(&all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_gets_its_part_and_then_all),
        cmocka_unit_test(one_member_gets_the_parts_of_all),
    };
    return members_run_tests(tests, sizeof tests / sizeof *tests);
}
